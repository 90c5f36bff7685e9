import fc from 'fast-check';

/** Names that mean something to JavaScript or MongoDB, and some of our fields. */
const names = fc.constantFrom(
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  '$gt',
  '$where',
  '$ne',
  'a.b',
  '',
  'email',
  'password',
  'status',
  'is_revoked',
  'refresh_token',
  'invite_token',
  'device_id',
);

const oddText = fc.constantFrom(
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  'ﷺﷺﷺﷺ',
  'ﬃ'.repeat(43),
  'e\u0301'.repeat(7),
  '\u202e',
  '\ufeff',
  '😀'.repeat(8),
  '\u0130@example.com',
  'a@b',
  'cook@example.com\n',
  '"; --',
  '{{7*7}}',
  '../../etc/passwd',
  '%00',
  'null',
  'x'.repeat(255),
  'x'.repeat(4_097),
  'urn:uuid:019a9e0c-6b1f-7c3a-9d55-1f0c2b7a4e10',
  '00000000-0000-0000-0000-000000000000',
);

const text = fc.oneof(
  oddText,
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 140 }),
);

/** Numbers as JSON text, because JavaScript can't represent some of them. */
const numberText = fc.constantFrom(
  '0',
  '-0',
  '1e400',
  '-1e400',
  '1e-400',
  '9007199254740993',
  `1${'0'.repeat(400)}`,
  '0.1',
);

const value = fc.oneof(
  text,
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>,
  fc.constantFrom<unknown>(null, true, false, 0, -1, {}, [], { $gt: '' }, { $ne: null }, ['JOIN_EXISTING']),
);

/** An object's members in order, in which a name may repeat. Values are JSON text. */
type Members = readonly (readonly [string, string])[];

const asText = (json: unknown): string => JSON.stringify(json) ?? 'null';
const toObject = (members: Members) => `{${members.map(([name, json]) => `${asText(name)}:${json}`).join(',')}}`;

/** Nested values, up to a depth that makes the body too large. */
const deepMember = fc
  .record({ depth: fc.integer({ min: 10, max: 4_000 }), pair: fc.constantFrom(['[', ']'], ['{"a":', '}']) })
  .map(({ depth, pair: [open = '', close = ''] }) => `${open.repeat(depth)}1${close.repeat(depth)}`);

/** Returns valid bodies with up to three members removed, replaced, doubled or added. */
function nearValid(good: Readonly<Record<string, unknown>>): fc.Arbitrary<string> {
  const own = Object.entries(good).map(([name, json]) => [name, asText(json)] as const);
  const anyText = fc.oneof({ weight: 5, arbitrary: value.map(asText) }, numberText, deepMember);
  const change: fc.Arbitrary<Change> = fc.oneof(
    fc.record({ kind: fc.constant('lose' as const), at: fc.nat() }),
    fc.record({ kind: fc.constant('replace' as const), at: fc.nat(), json: anyText }),
    fc.record({ kind: fc.constant('double' as const), at: fc.nat(), json: anyText }),
    fc.record({ kind: fc.constant('add' as const), name: fc.oneof(names, text), json: anyText }),
  );
  return fc.array(change, { maxLength: 3 }).map((changes) => {
    let members: Members = own;
    for (const next of changes) members = changed(members, next);
    return toObject(members);
  });
}

type Change =
  | { readonly kind: 'lose'; readonly at: number }
  | { readonly kind: 'replace' | 'double'; readonly at: number; readonly json: string }
  | { readonly kind: 'add'; readonly name: string; readonly json: string };

function changed(members: Members, change: Change): Members {
  if (change.kind === 'add') return [...members, [change.name, change.json]];
  const index = change.at % Math.max(1, members.length);
  if (change.kind === 'lose') return members.filter((_, i) => i !== index);
  const name = members[index]?.[0] ?? 'email';
  if (change.kind === 'double') return [...members, [name, change.json]];
  return members.map((member, i) => (i === index ? [name, change.json] : member));
}

/** Bodies nested so deep that a careless parser overflows its stack. */
const nested = fc
  .record({ depth: fc.integer({ min: 10, max: 8_000 }), open: fc.constantFrom('[', '{"a":'), closed: fc.boolean() })
  .map(({ depth, open, closed }) => {
    const close = open === '[' ? ']' : '}';
    return (
      open.repeat(Math.min(depth, Math.floor(15_000 / (open.length + 1)))) + (closed ? `1${close.repeat(depth)}` : '')
    );
  });

/** Returns texts with bytes removed, changed or inserted, so that many are no longer UTF-8. */
function damaged(texts: fc.Arbitrary<string>): fc.Arbitrary<Buffer> {
  return fc
    .record({ text: texts, at: fc.nat(), bytes: fc.uint8Array({ maxLength: 4 }), cut: fc.nat({ max: 3 }) })
    .map(({ text: whole, at, bytes, cut }) => {
      const buffer = Buffer.from(whole);
      const index = at % (buffer.length + 1);
      return Buffer.concat([buffer.subarray(0, index), bytes, buffer.subarray(index + cut)]);
    });
}

/** Returns bodies for an operation, most of them nearly valid, and the others arbitrary. */
export function bodiesLike(good: Readonly<Record<string, unknown>>): fc.Arbitrary<Buffer> {
  const near = nearValid(good);
  const toBytes = (body: string) => Buffer.from(body);
  return fc.oneof(
    { weight: 12, arbitrary: near.map(toBytes) },
    { weight: 3, arbitrary: value.map((json) => toBytes(asText(json))) },
    { weight: 2, arbitrary: damaged(near) },
    { weight: 1, arbitrary: nested.map(toBytes) },
    { weight: 1, arbitrary: numberText.map(toBytes) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    {
      weight: 1,
      arbitrary: fc.integer({ min: 16_380, max: 16_390 }).map((size) => toBytes(`"${'x'.repeat(size - 2)}"`)),
    },
  );
}
