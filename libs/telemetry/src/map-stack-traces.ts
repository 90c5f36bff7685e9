import { readFileSync } from 'node:fs';
import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';

/**
 * Makes the stack traces of a bundle name files and lines of the source. `bundleService` runs this module before each
 * program.
 *
 * `node --enable-source-maps` would do the same, but reads the maps of all modules at the start and keeps them: 40 MiB
 * and 100 ms of CPU for the api. Here a file's map is read only when a stack trace that names the file is formatted,
 * and only the source positions that were found are kept.
 */

/** Matches a position in a file of the bundle, as V8 writes it. */
const placeInBundle = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/;
/** Position in the bundle → position in the source. Errors come from few positions. The limit is a precaution. */
const known = new Map<string, string>();
const knownLimit = 5_000;

Error.prepareStackTrace = (error, frames) => {
  const maps = new Map<string, TraceMap | undefined>();
  const lines = frames.map((frame) => `\n    at ${mapped(String(frame), maps)}`);
  return `${headOf(error)}${lines.join('')}`;
};

function headOf(error: Error): string {
  try {
    // Node's own errors have a `toString` that adds their code.
    return error instanceof Error ? String(error) : Error.prototype.toString.call(error);
  } catch {
    // The error's name or message cannot be read. V8 writes the same text in that case.
    return '<error>';
  }
}

/** Returns the frame with the position in the source. A frame without a known source position is returned unchanged. */
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
  try {
    const { source, line: at, column: offset } = originalPositionFor(map, { line, column: column - 1 });
    return source === null || source.endsWith('/-') ? undefined : `${source}:${at}:${offset + 1}`;
  } catch {
    // The map is decoded only here, and may be damaged.
    return undefined;
  }
}
