/**
 * Returns where a text stops being JSON, as line and column, each from 1; undefined if it is JSON. It quotes nothing,
 * because the text may be secret, as the messages of `JSON.parse` do. Those also name no position for some faults.
 */
export function findJsonFault(text: string): string | undefined {
  if (!isBegun(text)) return describe(text, shortestFault(text) - 1);
  return isJson(text) ? undefined : describe(text, text.length);
}

/** Returns the length of the shortest part from the beginning that nothing could complete to JSON. */
function shortestFault(text: string): number {
  let [begun, broken] = [0, text.length];
  while (broken - begun > 1) {
    const middle = Math.floor((begun + broken) / 2);
    if (isBegun(text.slice(0, middle))) begun = middle;
    else broken = middle;
  }
  return broken;
}

/** Returns true if more characters could make the text JSON: V8 then reports the text's end, or a place there. */
function isBegun(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const { message } = error as SyntaxError;
    const [, position] = /in JSON at position (\d+)/.exec(message) ?? [];
    return /end of JSON input|Unterminated/.test(message) || Number(position) >= text.length;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function describe(text: string, index: number): string {
  const lines = text.slice(0, index).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}
