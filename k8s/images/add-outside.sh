#!/bin/sh
# add-outside.sh BUNDLES MODULES: run by services/Dockerfile. Copies into each BUNDLES/SERVICE the packages that
# BUNDLES/SERVICE.outside names, from MODULES/SERVICE, which has of optional ones only those of the image's platform.
set -eu
bundles=$1 modules=$2
for list in "$bundles"/*.outside; do
  service=$(basename "$list" .outside)
  while read -r package; do
    [ -d "$modules/$service/$package" ] || continue
    (cd "$modules/$service" && tar -c --exclude="$package/node_modules" "$package") | tar -x -C "$bundles/$service"
  done < "$list"
done
