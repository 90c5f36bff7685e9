import { readFileSync } from 'node:fs';
import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';

/**
 * Shows the places of the sources in stack traces of a bundle. `bundleService` puts it before each program.
 *
 * `node --enable-source-maps` would do it too, but reads and keeps the maps of all modules from the start: 40 MiB and
 * 100 ms of CPU for the api. Here a map is read when a stack trace with a place in its file is formatted, and only the
 * places that were found are kept.
 */

/** A place in a file of the bundle, as V8 writes it. */
const placeInBundle = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/;
/** Found places. Errors come from few places, so the limit is only for safety. */
const known = new Map<string, string>();
const knownLimit = 5_000;

Error.prepareStackTrace = (error, frames) => {
  const maps = new Map<string, TraceMap | undefined>();
  const lines = frames.map((frame) => `\n    at ${mapped(String(frame), maps)}`);
  return `${headOf(error)}${lines.join('')}`;
};

function headOf(error: unknown): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    // The error's name or message cannot be read. V8 says the same then.
    return '<error>';
  }
}

/** Returns the frame with the place in the source. A frame outside the bundle, or without a source, stays as it is. */
function mapped(frame: string, maps: Map<string, TraceMap | undefined>): string {
  const [place, file = '', line, column] = placeInBundle.exec(frame) ?? [];
  if (place === undefined) return frame;
  let found = known.get(place);
  if (found === undefined) {
    if (!maps.has(file)) maps.set(file, mapOf(file));
    found = sourceOf(maps.get(file), Number(line), Number(column)) ?? place;
    if (known.size < knownLimit) known.set(place, found);
  }
  return frame.replace(place, () => found);
}

function mapOf(file: string): TraceMap | undefined {
  try {
    const address = `${file}.map`;
    return new TraceMap(readFileSync(new URL(address), 'utf8'), address);
  } catch {
    // Packages that are not bundled have no map here. A stack trace must not fail.
    return undefined;
  }
}

function sourceOf(map: TraceMap | undefined, line: number, column: number): string | undefined {
  if (map === undefined) return;
  const { source, line: at, column: offset } = originalPositionFor(map, { line, column: column - 1 });
  return source === null || source.endsWith('/-') ? undefined : `${source}:${at}:${offset + 1}`;
}
