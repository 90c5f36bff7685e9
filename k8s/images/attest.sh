#!/usr/bin/env bash
# attest.sh NAME IMAGE [--insecure]: attaches to a pushed image what it is made of and how: its SBOM (CycloneDX, as
# `npm run sbom` writes it) and its provenance (SLSA 1.0 in an in-toto statement), as OCI referrers. Needs oras. Docker
# does the same by `buildx build --sbom=true --provenance=mode=max`. Neither is signed here: `cosign attest` does.
# Run it on the checkout that the image was built of: it refuses any other, and one with changes. The image has to say
# its source (SOURCE of build-image.sh). --insecure: the registry is reached over HTTP.
set -euo pipefail
name=$1 image=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export PATH="$root/node_modules/.bin:$PATH"
plain=()
[ "${3:-}" != --insecure ] || plain=(--plain-http)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

digest=$(oras resolve "${plain[@]}" "$image")
label() { # NAME, of the image for this machine
  oras manifest fetch-config "${plain[@]}" --platform "linux/$(dpkg --print-architecture)" "$image" |
    node -p "JSON.parse(fs.readFileSync(0)).config.Labels?.['org.opencontainers.image.$1'] ?? 'unknown'"
}
revision=$(label revision) source=$(label source)
[ "$source" != unknown ] || { echo "$image does not say its source: build it with SOURCE" >&2; exit 1; }
[ "$revision" = "$(git -C "$root" rev-parse HEAD)" ] || { echo "$image is of $revision, not of this checkout" >&2; exit 1; }
[ -z "$(git -C "$root" status --porcelain)" ] || { echo 'The checkout has changes that are not committed' >&2; exit 1; }
(cd "$root" && npm run --silent sbom > /dev/null)
cp "$root/reports/sbom/$name.cdx.json" "$work/sbom.cdx.json"
name=$name image=$image digest=$digest SOURCE=$source REVISION=$revision node --input-type=module > "$work/provenance.json" << 'EOF'
const { name, image, digest, SOURCE, REVISION } = process.env;
const [algorithm, value] = digest.split(':');
console.log(JSON.stringify({
  _type: 'https://in-toto.io/Statement/v1',
  subject: [{ name: image, digest: { [algorithm]: value } }],
  predicateType: 'https://slsa.dev/provenance/v1',
  predicate: {
    buildDefinition: {
      buildType: `${SOURCE}/k8s/images/build-image.sh`,
      externalParameters: { target: name, dockerfile: 'services/Dockerfile' },
      resolvedDependencies: [{ uri: `git+${SOURCE}`, digest: { gitCommit: REVISION } }],
    },
    runDetails: { builder: { id: `${SOURCE}/k8s/images` }, metadata: { finishedOn: new Date().toISOString() } },
  },
}));
EOF
cd "$work"
oras attach "${plain[@]}" --artifact-type application/vnd.cyclonedx+json "$image" sbom.cdx.json:application/vnd.cyclonedx+json
oras attach "${plain[@]}" --artifact-type application/vnd.in-toto+json "$image" provenance.json:application/vnd.in-toto+json
