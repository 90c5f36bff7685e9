import type { Explanation } from '../explain.ts';

export const account: readonly Explanation[] = [
  {
    file: 'libs/tokens/src/email-change-token.ts',
    why: 'The newest key is always there.',
    mutants: [
      [
        "if (mac === undefined || id.length !== idLength) throw new TypeError('the id of a change …",
        'mac === undefined',
        'false',
      ],
    ],
  },
  {
    file: 'libs/tokens/src/email-change-token.ts',
    why: 'A token that is too short names no key, and is refused for that.',
    mutants: [
      [
        "if (bytes.length <= macLength + idLength || bytes.toString('base64url') !== token) return;",
        'bytes.length <= macLength + idLength',
        'bytes.length < macLength + idLength',
      ],
      [
        "if (bytes.length <= macLength + idLength || bytes.toString('base64url') !== token) return;",
        'bytes.length <= macLength + idLength',
        'false',
      ],
      [
        "if (bytes.length <= macLength + idLength || bytes.toString('base64url') !== token) return;",
        'macLength + idLength',
        'macLength - idLength',
      ],
    ],
  },
  {
    file: 'libs/tokens/src/email-change-token.ts',
    why: 'The text is always 32 hexadecimal digits: with and without an anchor it fits in one way only.',
    mutants: [
      [
        "return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');",
        '/^(.{8})(.{4})(.{4})(.{4})(.{12})$/',
        '/(.{8})(.{4})(.{4})(.{4})(.{12})$/',
      ],
      [
        "return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');",
        '/^(.{8})(.{4})(.{4})(.{4})(.{12})$/',
        '/^(.{8})(.{4})(.{4})(.{4})(.{12})/',
      ],
    ],
  },
  {
    file: 'services/api/src/codes/check-code.ts',
    why: 'Any text will do: without an address no code is right.',
    mutants: [["const nobodysEmailKey = 'nobody';", "'nobody'", '""']],
  },
  {
    file: 'services/api/src/codes/check-code.ts',
    why: 'Without an account no code is right: it is there for the type alone.',
    mutants: [['if (user === undefined || !isRight) {', 'user === undefined', 'false']],
  },
  {
    file: 'services/api/src/codes/request-code.ts',
    why: 'Only that it is not `user` counts.',
    mutants: [["const to = userId === undefined || isWithheld ? 'nobody' : 'user';", "'nobody'", '""']],
  },
  {
    file: 'services/api/src/codes/resend-code.ts',
    why: 'Only that it is not `user` counts.',
    mutants: [
      ["const to = user !== undefined && (await isRecipient(user, purpose)) ? 'user' : 'nobody';", "'nobody'", '""'],
    ],
  },
  {
    file: 'services/api/src/codes/resend-code.ts',
    why: 'The catalogue has the same time for this code, as a default.',
    mutants: [
      [
        "if (taken === undefined) throw new AppError('ERR-RATE-LIMITED', { retryAfterSeconds: code…",
        '{ retryAfterSeconds: codeResendSeconds }',
        '{}',
      ],
    ],
  },
];
