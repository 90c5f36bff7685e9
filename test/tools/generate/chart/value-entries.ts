import { readFileSync } from 'node:fs';
import { isMap, isScalar, LineCounter, type Pair, parseDocument, type YAMLMap } from 'yaml';

type JsonSchema = Readonly<Record<string, unknown>>;

/** A key of values.yaml, with the content of its comment. */
export interface ValueEntry {
  readonly key: string;
  /** The path from the root, such as `api.image.tag`. */
  readonly path: string;
  /** The joined lines after `# --`; undefined if there are none. */
  readonly description: string | undefined;
  /** The line `# @schema {…}`. */
  readonly schema: JsonSchema | undefined;
  readonly value: unknown;
  /** The keys of the value, if it is a map. */
  readonly entries: readonly ValueEntry[];
}

/** Returns the comment lines right above a line, without their `#`. */
function commentAbove(lines: readonly string[], lineNumber: number): string[] {
  const above = lines.slice(0, lineNumber - 1);
  const first = above.findLastIndex((line) => !/^\s*#/.test(line)) + 1;
  return above.slice(first).map((line) => line.replace(/^\s*# ?/, ''));
}

function parseSchema(comment: readonly string[], path: string): JsonSchema | undefined {
  const line = comment.find((text) => text.startsWith('@schema '));
  if (line === undefined) return undefined;
  try {
    return JSON.parse(line.slice('@schema '.length));
  } catch (error) {
    throw new Error(`values.yaml: the schema of ${path} is no JSON`, { cause: error });
  }
}

function parseDescription(comment: readonly string[]): string | undefined {
  const start = comment.findIndex((text) => text.startsWith('-- '));
  if (start < 0) return undefined;
  const text = comment.slice(start).filter((line) => !line.startsWith('@schema '));
  return text.join(' ').replace(/^-- /, '').trim();
}

/** Returns the keys of values.yaml in their order. Throws if a schema in a comment is not JSON. */
export function parseValueEntries(text: string): ValueEntry[] {
  const lines = text.split('\n');
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });

  const toEntry = ({ key, value }: Pair, parent: string): ValueEntry => {
    if (!isScalar(key) || !key.range) throw new Error(`values.yaml: a key below "${parent}" is no text`);
    const path = parent === '' ? String(key.value) : `${parent}.${key.value}`;
    const comment = commentAbove(lines, counter.linePos(key.range[0]).line);
    return {
      key: String(key.value),
      path,
      description: parseDescription(comment),
      schema: parseSchema(comment, path),
      value: isMap(value) || !isScalar(value) ? (value as YAMLMap).toJS(document) : value.value,
      entries: isMap(value) ? toEntries(value, path) : [],
    };
  };
  const toEntries = (map: YAMLMap, parent: string) => map.items.map((pair) => toEntry(pair, parent));

  if (!isMap(document.contents)) throw new Error('values.yaml holds no map');
  return toEntries(document.contents, '');
}

/** Returns the keys of the chart's own values.yaml. */
export function readValueEntries(): ValueEntry[] {
  return parseValueEntries(
    readFileSync(new URL('../../../../charts/auth-account/values.yaml', import.meta.url), 'utf8'),
  );
}
