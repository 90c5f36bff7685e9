import * as Type from '@auth-account/contracts/type';
import { describe, expect, test } from '@jest/globals';
import { describeConfig } from './describe-config.ts';

describe('describeConfig', () => {
  test('describeConfig lists the variables with type, default, and whether they are required or secret', () => {
    const schema = Type.Object({
      URI: Type.String({ minLength: 1, secret: true, description: 'Where' }),
      PREFIX: Type.String({ pattern: '^[a-z]+$', default: 'auth' }),
      TTL: Type.Optional(Type.Integer({ minimum: 1 })),
      KINDS: Type.Array(Type.Union([Type.Literal('a'), Type.Literal('b')]), { default: [] }),
      MODE: Type.Union([Type.Literal('on'), Type.Literal('off')], { default: 'on' }),
    });
    const plain = { required: false, secret: false, description: '', default: undefined };
    expect(describeConfig(schema)).toEqual([
      { ...plain, name: 'URI', type: 'text', required: true, secret: true, description: 'Where' },
      { ...plain, name: 'PREFIX', type: 'text matching ^[a-z]+$', default: 'auth' },
      { ...plain, name: 'TTL', type: 'integer, at least 1' },
      { ...plain, name: 'KINDS', type: 'JSON array', default: '[]' },
      { ...plain, name: 'MODE', type: 'one of on, off', default: 'on' },
    ]);
  });
});
