import type { Explanation } from '../explain.ts';

export const validation: readonly Explanation[] = [
  {
    file: 'services/api/src/http/validation/ajv.ts',
    why: 'It guards against a mistake in the contract, and nobody has made it.',
    mutants: [["schemaType: 'object',", "'object'", '""']],
  },
  {
    file: 'services/api/src/http/validation/ajv.ts',
    why: 'What is neither short nor long is worded in one way, whatever it is called.',
    mutants: [
      [
        "if (!text.isWellFormed() || text.includes('\\0')) return { violation: 'character', limit: …",
        "{ violation: 'character', limit: 0 }",
        '{}',
      ],
      [
        "if (!text.isWellFormed() || text.includes('\\0')) return { violation: 'character', limit: …",
        "'character'",
        '""',
      ],
    ],
  },
  {
    file: 'services/api/src/http/validation/ajv.ts',
    why: 'It is `allowUnionTypes`: without it AJV takes the same schemas, and warns of them on the console.',
    mutants: [['const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });', 'true', 'false']],
  },
  {
    file: 'services/api/src/http/validation/parse-json.ts',
    why: 'A property is always met within an object: the list is never without one then, and what lay below never counts.',
    mutants: [
      ['const objects: Set<string>[] = [];', '[]', '["Stryker was here"]'],
      [
        "if (names?.has(name)) throw new SyntaxError('an object has two members of one name');",
        'names?.has',
        'names.has',
      ],
      ['names?.add(name);', 'names?.add', 'names.add'],
    ],
  },
];
