import * as Type from '@auth-account/contracts/type';
import { describe, expect, test } from '@jest/globals';
import { ConfigError } from './config-error.ts';
import { loadConfig } from './load-config.ts';
import { originConfig } from './shared-config.ts';
import type { VariableSchema } from './variable-schema.ts';

const schema = Type.Object({
  PORT: Type.Integer({ default: 8080, minimum: 1, maximum: 65_535 }),
  RATIO: Type.Optional(Type.Number()),
  PRETTY: Type.Boolean({ default: false }),
  LEVEL: Type.Enum(['info', 'debug'], { default: 'info' }),
  ORIGINS: Type.Array(Type.String(), { default: [] }),
  SUBSCRIBERS: Type.Array(Type.Object({ name: Type.String(), url: Type.String({ format: 'uri' }) }), { default: [] }),
  DATABASE_URI: Type.String({ minLength: 1, secret: true }),
});

const DATABASE_URI = 'mongodb://user:hunter2@host';

function problemsOf(env: Record<string, string>, files: Record<string, string> = {}, of: Type.TObject = schema) {
  const readFile = (path: string) => {
    const text = files[path];
    if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    return text;
  };
  try {
    loadConfig(of, { env, readFile });
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

describe('loadConfig', () => {
  test('loadConfig applies defaults, and leaves optional variables out', () => {
    expect(loadConfig(schema, { env: { DATABASE_URI } })).toEqual({
      PORT: 8080,
      PRETTY: false,
      LEVEL: 'info',
      ORIGINS: [],
      SUBSCRIBERS: [],
      DATABASE_URI,
    });
  });

  test.each([
    ['PORT', '90', 90],
    ['RATIO', '-0.5', -0.5],
    ['PRETTY', 'true', true],
    ['PRETTY', '1', true],
    ['PRETTY', 'False', false],
    ['PRETTY', '0', false],
    ['LEVEL', 'debug', 'debug'],
    ['ORIGINS', 'https://a.example, https://b.example,', ['https://a.example', 'https://b.example']],
    ['ORIGINS', '["https://a.example"]', ['https://a.example']],
    ['SUBSCRIBERS', '[{"name":"n","url":"https://a.example"}]', [{ name: 'n', url: 'https://a.example' }]],
  ])('loadConfig reads %s=%s', (name, text, value) => {
    expect(loadConfig(schema, { env: { DATABASE_URI, [name]: text } })).toMatchObject({ [name]: value });
  });

  test.each([
    ['PORT', '0', 'integer, 1 to 65535'],
    ['PORT', '80.5', 'integer, 1 to 65535'],
    ['PORT', '0x50', 'integer, 1 to 65535'],
    ['PORT', 'many', 'integer, 1 to 65535'],
    ['RATIO', 'Infinity', 'number'],
    ['PRETTY', 'yes', 'true or false'],
    ['LEVEL', 'loud', 'one of info, debug'],
    ['SUBSCRIBERS', '[{"name"', 'JSON array; no JSON from line 1, column 9'],
    ['SUBSCRIBERS', '[\n {"name":"n",}\n]', 'JSON array; no JSON from line 2, column 14'],
    ['SUBSCRIBERS', '\n[1,]', 'JSON array; no JSON from line 2, column 4'],
    ['SUBSCRIBERS', '{}', 'JSON array'],
    ['SUBSCRIBERS', '[{"name":1,"url":"x"}]', 'JSON array; /0/name must be string; /0/url must match format "uri"'],
  ])('loadConfig refuses %s=%s and says what it expected', (name, text, expected) => {
    const { problems } = problemsOf({ DATABASE_URI, [name]: text });
    expect(problems).toEqual([{ name, expected, came: JSON.stringify(text), where: `environment ${name}` }]);
  });

  test('loadConfig treats an empty variable as one that is not set', () => {
    expect(loadConfig(schema, { env: { DATABASE_URI, PORT: '' } }).PORT).toBe(8080);
    expect(problemsOf({ DATABASE_URI: '' }).problems).toMatchObject([{ name: 'DATABASE_URI', came: 'nothing' }]);
  });

  // guarantees: no-start-with-wrong-config
  test('loadConfig reports all problems at once, in the order of the schema, as a table', () => {
    const error = problemsOf({ LEVEL: 'loud', PORT: '0' });
    expect(error.problems.map((problem) => problem.name)).toEqual(['PORT', 'LEVEL', 'DATABASE_URI']);
    expect(error.message).toBe(
      [
        'The configuration has 3 problems:',
        '  NAME          EXPECTED             CAME     SET IT IN',
        '  PORT          integer, 1 to 65535  "0"      environment PORT',
        '  LEVEL         one of info, debug   "loud"   environment LEVEL',
        '  DATABASE_URI  text                 nothing  environment DATABASE_URI, or a file named by DATABASE_URI_FILE',
      ].join('\n'),
    );
  });

  test('the configuration is frozen, all the way down', () => {
    const config = loadConfig(schema, {
      env: { DATABASE_URI, SUBSCRIBERS: '[{"name":"n","url":"https://a.example"}]' },
    });
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.SUBSCRIBERS)).toBe(true);
    expect(Object.isFrozen(config.SUBSCRIBERS[0])).toBe(true);
  });

  test('loadConfig leaves the schema with its own defaults', () => {
    loadConfig(schema, { env: { DATABASE_URI } });
    expect(Object.isFrozen(schema.properties.ORIGINS)).toBe(false);
    expect(loadConfig(schema, { env: { DATABASE_URI, ORIGINS: 'a' } }).ORIGINS).toEqual(['a']);
    expect(loadConfig(schema, { env: { DATABASE_URI } }).ORIGINS).toEqual([]);
  });
});

test('a custom check adds its problems to those of the schema, and sees the other variables', () => {
  const unlike: VariableSchema['check'] = (value, { FORBIDDEN }) =>
    (value as unknown[]).flatMap((item, index) =>
      item === FORBIDDEN ? [{ path: `/${index}`, message: 'is forbidden' }] : [],
    );
  const checked = Type.Object({
    FORBIDDEN: Type.String({ default: 'b' }),
    NAMES: Type.Array(Type.String({ pattern: '^[a-z]$' }), { check: unlike }),
  });
  expect(problemsOf({ NAMES: 'a,b,CC' }, {}, checked).problems).toMatchObject([
    {
      name: 'NAMES',
      expected: expect.stringMatching(
        /^list of .*; \/1 is forbidden; \/2 must match pattern|\/2 must match.*\/1 is forbidden/,
      ),
    },
  ]);
  expect(loadConfig(checked, { env: { NAMES: 'a,c' } }).NAMES).toEqual(['a', 'c']);
});

test('a custom check says what is wrong with a text, without the text where it is secret', () => {
  const check: VariableSchema['check'] = (value) => (value === 'good' ? [] : [{ path: '', message: 'it is not good' }]);
  const checked = Type.Object({ WORD: Type.String({ secret: true, check }) });
  expect(problemsOf({ WORD: 'hunter2' }, {}, checked).problems).toMatchObject([
    { name: 'WORD', expected: 'text; it is not good', came: 'a value that is not shown' },
  ]);
  expect(loadConfig(checked, { env: { WORD: 'good' } }).WORD).toBe('good');
});

describe('secrets', () => {
  const short = Type.Object({
    DATABASE_URI: Type.String({ minLength: 100, secret: true }),
    PLAIN: Type.Optional(Type.String()),
  });

  test('a secret may come from a file, less one trailing newline', () => {
    const readFile = (path: string) => (path === '/run/uri' ? `${DATABASE_URI} \n` : '');
    expect(loadConfig(schema, { env: { DATABASE_URI_FILE: '/run/uri' }, readFile }).DATABASE_URI).toBe(
      `${DATABASE_URI} `,
    );
  });

  test('a secret is never shown, wherever it came from', () => {
    const fromEnv = problemsOf({ DATABASE_URI }, {}, short);
    const fromFile = problemsOf({ DATABASE_URI_FILE: '/run/uri' }, { '/run/uri': DATABASE_URI }, short);
    for (const error of [fromEnv, fromFile]) {
      expect(error.problems).toMatchObject([{ name: 'DATABASE_URI', came: 'a value that is not shown' }]);
      expect(error.message).not.toContain('hunter2');
    }
  });

  test('a secret is refused where variable and file are both set', () => {
    const { problems } = problemsOf({ DATABASE_URI, DATABASE_URI_FILE: '/run/uri' }, { '/run/uri': 'x' });
    expect(problems).toMatchObject([{ expected: 'DATABASE_URI or DATABASE_URI_FILE, not both', came: 'both' }]);
  });

  test('a secret is refused where its file is missing or empty', () => {
    expect(problemsOf({ DATABASE_URI_FILE: '/none' }).problems).toMatchObject([{ came: '/none (ENOENT)' }]);
    const empty = problemsOf({ DATABASE_URI_FILE: '/run/uri' }, { '/run/uri': '\n' });
    expect(empty.problems).toMatchObject([{ came: 'an empty file /run/uri' }]);
  });

  test('only a secret has a file: NAME_FILE of another variable is not read', () => {
    expect(loadConfig(short, { env: { DATABASE_URI: 'x'.repeat(100), PLAIN_FILE: '/none' } })).not.toHaveProperty(
      'PLAIN',
    );
  });
});

describe('ALLOWED_ORIGINS', () => {
  const origins = Type.Object(originConfig);

  test.each(['https://app.example.com:443', 'http://a.example:80', 'https://müller.example', 'https://a:b:1'])(
    'ALLOWED_ORIGINS refuses %s, which no browser sends',
    (origin) => {
      const { problems } = problemsOf({ ALLOWED_ORIGINS: `https://app.example.com,${origin}` }, {}, origins);
      expect(problems).toMatchObject([{ name: 'ALLOWED_ORIGINS' }]);
    },
  );

  test('ALLOWED_ORIGINS takes origins of sites, of hosts without a name, and of apps', () => {
    const all = [
      'https://xn--mller-kva.example',
      'http://[::1]:3000',
      'http://localhost:8100',
      'capacitor://localhost',
    ];
    expect(loadConfig(origins, { env: { ALLOWED_ORIGINS: all.join() } }).ALLOWED_ORIGINS).toEqual(all);
  });
});
