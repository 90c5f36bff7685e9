import type { Explanation } from '../explain.ts';

export const tokens: readonly Explanation[] = [
  {
    file: 'libs/verifier/src/access-token/access-token-form.ts',
    why: 'Nothing in the block throws anything but a SyntaxError; whatever else would come is not to be swallowed.',
    mutants: [
      ['} catch (error) {', '{ if (error instanceof SyntaxError) return undefined; throw error; }', '{}'],
      ['if (error instanceof SyntaxError) return undefined;', 'error instanceof SyntaxError', 'true'],
    ],
  },
  {
    file: 'libs/verifier/src/access-token/access-token-form.ts',
    why: 'It is asked about exactly as many characters: with and without an anchor it fits in one way only.',
    mutants: [
      ['const signaturePattern = /^[\\w-]{85}[AQgw]$/;', '/^[\\w-]{85}[AQgw]$/', '/[\\w-]{85}[AQgw]$/'],
      ['const signaturePattern = /^[\\w-]{85}[AQgw]$/;', '/^[\\w-]{85}[AQgw]$/', '/^[\\w-]{85}[AQgw]/'],
    ],
  },
  {
    file: 'libs/verifier/src/access-token/access-token-form.ts',
    why: 'Without a header the text before the first dot, or all of it, is read as one, and is none.',
    mutants: [
      ["const hasForm = headEnd > 0 && bodyEnd > headEnd && token[bodyEnd] === '.';", 'headEnd > 0', 'true'],
      ["const hasForm = headEnd > 0 && bodyEnd > headEnd && token[bodyEnd] === '.';", 'headEnd > 0', 'headEnd >= 0'],
    ],
  },
  {
    file: 'libs/tokens/src/access-token-keys.ts',
    why: 'The token is made to be verified once, and no part of it is looked at.',
    mutants: [
      [
        "!isSignedBy(published, signJwt({}, { type: '', algorithm }, { kid, key }), algorithm)",
        "''",
        '"Stryker was here!"',
      ],
    ],
  },
  {
    file: 'libs/tokens/src/access-token-keys.ts',
    why: 'A function that returns nothing returns undefined.',
    mutants: [['} catch {', '{ return undefined; }', '{}']],
  },
  {
    file: 'libs/verifier/src/access-token/is-signed-by.ts',
    why: 'An empty name stands for UTF-8, and the text is ASCII: the bytes are the same.',
    mutants: [["const signed = Buffer.from(token.slice(0, end), 'latin1');", "'latin1'", '""']],
  },
  {
    file: 'libs/verifier/src/access-token/verifier-cache.ts',
    why: 'The key is another text, and still one of its own for each token.',
    mutants: [["const key = hash('sha256', token, 'base64url');", "'base64url'", '""']],
  },
  {
    file: 'libs/tokens/src/key-file.ts',
    why: 'Without a name the file comes as bytes, which JSON.parse reads as UTF-8.',
    mutants: [["return parseKeySet(await readFile(path, 'utf8'), path);", "'utf8'", '""']],
  },
  {
    file: 'libs/tokens/src/watch-key-file.ts',
    why: 'Without a name the file comes as bytes, which JSON.parse reads as UTF-8 and the digest takes as they are.',
    mutants: [
      ["const first = await readFile(path, 'utf8');", "'utf8'", '""'],
      ["const text = await readFile(path, 'utf8');", "'utf8'", '""'],
    ],
  },
  {
    file: 'libs/tokens/src/watch-key-file.ts',
    why: 'Any text will do that is no digest.',
    mutants: [["let mark = 'unreadable';", "'unreadable'", '""']],
  },
  {
    file: 'libs/tokens/src/watch-key-file.ts',
    why: 'The times are fractions of a millisecond: they differ by exactly the gap as good as never.',
    mutants: [
      [
        'if (isClosed || at - lastAsked < rereadGapMs) return reading;',
        'at - lastAsked < rereadGapMs',
        'at - lastAsked <= rereadGapMs',
      ],
    ],
  },
  {
    file: 'libs/tokens/src/write-key-file.ts',
    why: 'A handle that is not closed is closed with the garbage, with a warning of Node: no test can wait for that.',
    mutants: [['} finally {', '{ await file.close(); }', '{}']],
  },
];
