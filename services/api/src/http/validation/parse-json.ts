import { visit } from 'jsonc-parser';

/** RFC 8259 section 8.1 requires UTF-8 without a byte order mark. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a JSON text. Throws if the bytes are not UTF-8, if the text is not JSON, or if an object has two members with
 * the same name. Some parsers take the first member and others the last, so they would act on different requests (RFC
 * 8259 section 4).
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = utf8.decode(bytes);
  const value: unknown = JSON.parse(text);
  refuseDuplicateKeys(text);
  return value;
}

function refuseDuplicateKeys(text: string): void {
  const objects: Set<string>[] = [];
  visit(text, {
    onObjectBegin() {
      objects.push(new Set());
    },
    onObjectProperty(name) {
      const names = objects.at(-1);
      if (names?.has(name)) throw new SyntaxError('an object has two members of one name');
      names?.add(name);
    },
    onObjectEnd() {
      objects.pop();
    },
  });
}
