import { expect, test } from '@jest/globals';
import * as typebox from 'typebox';
import * as Type from './type.ts';

/** A schema with each builder, with and without options. */
function build({ Optional, ...of }: typeof Type) {
  const shared = of.String({ minLength: 1, examples: ['a'] });
  const inner = of.Object({ shared, missing: Optional(shared) }, { description: 'inner' });
  return of.Object({
    ...inner.properties,
    inner: Optional(inner),
    none: of.Object({ all: Optional(of.Boolean()) }),
    list: of.Array(of.Integer({ minimum: 1 }), { minItems: 1 }),
    kind: of.Enum(['a', 'b'], { default: 'a' }),
    either: of.Union([of.Literal('x'), of.Literal(1), of.Literal(true), of.Null()], { title: 'either' }),
    any: of.Unknown({ description: 'any' }),
    own: of.Unsafe<string>({ type: 'string', nullable: true }),
    number: Optional(of.Number()),
  });
}

test('the schemas equal those that TypeBox makes', () => {
  expect(JSON.stringify(build(Type), null, 1)).toBe(JSON.stringify(build(typebox), null, 1));
});
