import type { Explanation } from '../explain.ts';

export const errors: readonly Explanation[] = [
  {
    file: 'libs/errors/src/app-error.ts',
    why: 'Only that the mark is there counts, not what it holds.',
    mutants: [
      ['Object.defineProperty(this, brand, { value: true });', '{ value: true }', '{}'],
      ['Object.defineProperty(this, brand, { value: true });', 'true', 'false'],
    ],
  },
  {
    file: 'libs/errors/src/from-http.ts',
    why: 'No header at all reads as the word `undefined`, which is no number either.',
    mutants: [
      [
        'return retryAfter !== undefined && /^\\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : un…',
        'retryAfter !== undefined',
        'true',
      ],
    ],
  },
  {
    file: 'libs/errors/src/restore-error.ts',
    why: 'A text among the statuses is equal to no status.',
    mutants: [['const { http, httpAlternatives = [] } = rowOf(code);', '[]', '["Stryker was here"]']],
  },
  {
    file: 'libs/errors/src/grpc/from-grpc.ts',
    why: 'What throws while the bytes are read becomes undefined a step further out.',
    mutants: [
      [
        "const restored = typeof bytes === 'object' ? findRestored(bytes, failure) : undefined;",
        "typeof bytes === 'object'",
        'true',
      ],
      ['if (info?.domain !== errorDomain) return undefined;', 'info?.domain', 'info.domain'],
      ['} catch {', '{ // Bytes that are no Status come from a peer that is not ours; the failure itself stays…', '{}'],
    ],
  },
];
