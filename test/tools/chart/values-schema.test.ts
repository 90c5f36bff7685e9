import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { parseValueEntries } from '../generate/chart/value-entries.ts';
import { toValuesSchema } from '../generate/chart/values-schema.ts';
import { components, configOf, sharedConfig, variables } from './component-variables.ts';
import { chartFolder, findValueSets } from './value-sets.ts';

const schema = JSON.parse(readFileSync(`${chartFolder}values.schema.json`, 'utf8'));
const validate = new Ajv({ allErrors: true, strict: false }).compile(schema);

type Values = Readonly<Record<string, unknown>>;
const defaults: Values = parse(readFileSync(`${chartFolder}values.yaml`, 'utf8'));
const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Merges values into defaults as Helm does: an empty value removes the default. */
function merged(into: Values, values: Values): Values {
  const entries = Object.entries(values).map(([key, value]) => {
    const before = into[key];
    return [key, isMap(before) && isMap(value) ? merged(before, value) : value] as const;
  });
  const all = Object.entries({ ...into, ...Object.fromEntries(entries) });
  return Object.fromEntries(all.filter(([key, value]) => value !== null || !(key in into)));
}

function problemsOf(values: Values): string[] {
  validate(merged(defaults, values));
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe("the chart's schema of values", () => {
  test('the schema of values accepts the default values, and every set', () => {
    expect(problemsOf({})).toEqual([]);
    for (const { file } of findValueSets()) expect(problemsOf(parse(readFileSync(file, 'utf8')) ?? {})).toEqual([]);
  });

  test.each(Object.keys(defaults))('the schema of values refuses %s where it is left empty', (key) => {
    expect(problemsOf({ [key]: null })).toEqual([` must have required property '${key}'`]);
    const { required = [] } = schema.properties[key];
    for (const inner of required) {
      expect(problemsOf({ [key]: { [inner]: null } })).toEqual([`/${key} must have required property '${inner}'`]);
    }
  });

  test('the schema of values accepts the variables of the configuration schemas, as numbers, texts or lists', () => {
    const api = { config: { HASH_QUEUE_LIMIT: 5, HASH_CONCURRENCY: '2', VALIDATE_RESPONSES: true } };
    const pushGateway = { config: { ALLOWED_ORIGINS: ['https://app.example.com'], DRAIN_SECONDS: null } };
    expect(problemsOf({ config: { TOKEN_ISSUER: 'https://auth.example.com' }, api, pushGateway })).toEqual([]);
  });

  test('the variables in the schema of values have valid schemas, which the services do not check at start', () => {
    const ajv = new Ajv2020();
    const schemas = components.flatMap((component) => variables[component].map((variable) => variable.schema));
    expect(schemas.length).toBeGreaterThan(100);
    expect(schemas.filter((each) => ajv.validateSchema(each) !== true)).toEqual([]);
  });

  test.each([
    ['a variable that is misspelt', { config: { TOKEN_ISUER: 'x' } }, '/config must NOT have additional properties'],
    [
      "another service's variable",
      { worker: { config: { HASH_QUEUE_LIMIT: 1 } } },
      '/worker/config must NOT have additional properties',
    ],
    ['a secret', { config: { REDIS_URL: 'redis://cache' } }, '/config must NOT have additional properties'],
    ['a port', { api: { config: { API_PORT: 80 } } }, '/api/config must NOT have additional properties'],
    ['a file', { api: { config: { SERVER_KEYS_FILE: '/keys' } } }, '/api/config must NOT have additional properties'],
    ['a number below its range', { api: { config: { ARGON2_PASSES: 0 } } }, '/api/config/ARGON2_PASSES must be >= 1'],
    ['a value that does not exist', { api: { replcias: 2 } }, '/api must NOT have additional properties'],
    ['a text for a number', { api: { replicas: 'two' } }, '/api/replicas must be integer'],
  ])('the schema of values refuses %s', (_what, values, problem) => {
    expect(problemsOf(values)).toEqual([problem]);
  });

  test('the `config` of a component has every variable that is not set by the chart', () => {
    const shared = sharedConfig().map(({ name }) => name);
    const own = components.flatMap((component) => configOf(component).map(({ name }) => name));
    expect(own.filter((name) => !shared.includes(name))).toEqual([]);
    expect(shared).toEqual(
      expect.arrayContaining(['TOKEN_ISSUER', 'LOG_LEVEL', 'HASH_QUEUE_LIMIT', 'PROBE_EMAIL_DOMAIN']),
    );
    expect(shared.filter((name) => /_PORT$|_FILE$|MONGODB_URI|REDIS_URL/.test(name))).toEqual([]);
  });
});

describe('the generator of the schema', () => {
  test('the generator takes texts and schemas from the comments, and types from the defaults', () => {
    const entries = parseValueEntries(
      [
        '# Not part of it.',
        '',
        'part:',
        '  # -- How many, and',
        '  # a second line',
        '  # @schema {"minimum":1}',
        '  count: 2',
        '  # -- Anything',
        '  # @schema {"type":"object"}',
        '  free: {}',
      ].join('\n'),
    );
    expect(toValuesSchema(entries).properties).toMatchObject({
      part: {
        type: 'object',
        additionalProperties: false,
        properties: {
          count: { type: 'integer', minimum: 1, default: 2, description: 'How many, and a second line' },
          free: { type: 'object', description: 'Anything' },
        },
      },
    });
  });

  test('the generator refuses a default that does not say its type', () => {
    expect(() => toValuesSchema(parseValueEntries('free: {}\n'))).toThrow('the default of free does not say its type');
    expect(() => parseValueEntries('# @schema {"type"\nfree: {}\n')).toThrow('the schema of free is no JSON');
  });
});
