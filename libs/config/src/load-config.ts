import { readFileSync } from 'node:fs';
import type { Static, TObject } from '@auth-account/contracts/type';
import { Errors } from 'typebox/schema';
import { ConfigError, type ConfigProblem } from './config-error.ts';
import { describeType } from './describe-type.ts';
import { findJsonFault } from './find-json-fault.ts';
import { parseValue } from './parse-value.ts';
import { isCommaList, type VariableSchema, variablesOf } from './variable-schema.ts';

/** The values of a configuration schema; deep-frozen. */
export type Config<S extends TObject> = Readonly<Static<S>>;

type Values = Readonly<Record<string, unknown>>;

/** Source of a variable's text: the environment and, for secrets, files. */
interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values for variables that the environment does not set, neither directly nor by a file. */
  readonly fallback?: Readonly<Record<string, string | undefined>> | undefined;
  readonly readFile: (path: string) => string;
}

/** Text of a variable (undefined if it is not set), or the reason why it could not be read. */
type VariableText = { readonly text: string | undefined } | { readonly expected: string; readonly came: string };

function readSecretFile(path: string, readFile: ConfigSources['readFile']): VariableText {
  try {
    const text = readFile(path).replace(/\r?\n$/, '');
    return text === '' ? { expected: 'a file with the value in it', came: `an empty file ${path}` } : { text };
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return { expected: 'a readable file', came: `${path} (${reason})` };
  }
}

/** Reads one variable. Empty text counts as not set; a secret may come from the file that NAME_FILE names. */
function readVariable(name: string, variable: VariableSchema, sources: ConfigSources): VariableText {
  const { env, fallback, readFile } = sources;
  const text = env[name] === '' ? undefined : env[name];
  const path = variable.secret ? env[`${name}_FILE`] : undefined;
  if (!path) return { text: text ?? fallback?.[name] };
  if (text !== undefined) return { expected: `${name} or ${name}_FILE, not both`, came: 'both' };
  return readSecretFile(path, readFile);
}

function where(name: string, variable: VariableSchema): string {
  return variable.secret ? `environment ${name}, or a file named by ${name}_FILE` : `environment ${name}`;
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  Object.values(value).forEach(deepFreeze);
}

function setDefaults(variables: ReadonlyMap<string, VariableSchema>, values: Record<string, unknown>): void {
  for (const [name, { default: value }] of variables) {
    if (values[name] === undefined && value !== undefined) values[name] = structuredClone(value);
  }
}

/**
 * Describes what a variable must hold; undefined if its value is right, or if it has none and needs none. For a fault
 * inside a JSON value it adds the path and what is expected there, because the variable's type alone says too little.
 * It also adds the messages of the variable's own check. The schema is not compiled, because it is used only once.
 */
function findExpected(name: string, variable: VariableSchema, values: Values, isRequired: boolean): string | undefined {
  const value = values[name];
  if (value === undefined) return isRequired ? describeType(variable) : undefined;
  const [isRight, faults] = Errors(variable, value);
  const own = variable.check?.(value, values) ?? [];
  if (isRight && own.length === 0) return undefined;
  const inside = faults.flatMap(({ instancePath, message }) => (instancePath ? `${instancePath} ${message}` : []));
  const checked = own.map(({ path, message }) => (path ? `${path} ${message}` : message));
  const fault = isJsonOnly(variable) && typeof value === 'string' ? findJsonFault(value) : undefined;
  const broken = fault === undefined ? [] : [`no JSON from ${fault}`];
  return [describeType(variable), ...broken, ...inside, ...checked].join('; ');
}

/** Returns true if a variable's text must be JSON. A list may also have commas. */
function isJsonOnly(variable: VariableSchema): boolean {
  return variable.type === 'object' || (variable.type === 'array' && !isCommaList(variable));
}

function shown(variable: VariableSchema, text: string): string {
  if (variable.secret) return 'a value that is not shown';
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/**
 * Reads a service's configuration. Nothing else in the project reads `process.env`. A property of the schema is an
 * environment variable of the same name. A variable marked `secret: true` may instead come from the file that
 * `<NAME>_FILE` names. Empty text counts as not set, defaults are applied, and the result is deep-frozen.
 *
 * @throws ConfigError with every problem at once
 * @example
 * const config = loadConfig(Type.Object({ API_PORT: Type.Integer({ default: 8080, maximum: 65535 }) }));
 */
export function loadConfig<S extends TObject>(schema: S, sources: Partial<ConfigSources> = {}): Config<S> {
  const { env = process.env, fallback, readFile = (path: string) => readFileSync(path, 'utf8') } = sources;
  const variables = new Map(variablesOf(schema));
  const required = new Set<string>(schema.required);
  const values: Record<string, unknown> = {};
  const came = new Map<string, string>();
  const problems = new Map<string, ConfigProblem>();

  for (const [name, variable] of variables) {
    const read = readVariable(name, variable, { env, fallback, readFile });
    if (!('text' in read)) problems.set(name, { name, ...read, where: where(name, variable) });
    else if (read.text !== undefined) {
      values[name] = parseValue(variable, read.text);
      came.set(name, shown(variable, read.text));
    }
  }
  setDefaults(variables, values);
  for (const [name, variable] of variables) {
    const expected = findExpected(name, variable, values, required.has(name));
    if (expected === undefined || problems.has(name)) continue;
    problems.set(name, { name, expected, came: came.get(name) ?? 'nothing', where: where(name, variable) });
  }

  if (problems.size > 0) throw new ConfigError([...variables.keys()].flatMap((name) => problems.get(name) ?? []));
  deepFreeze(values);
  return values as Config<S>;
}

/**
 * Returns true if the environment has one of these variables, even an empty one. (`loadConfig` treats it as absent.)
 */
export function hasVariable(names: readonly string[], env: ConfigSources['env'] = process.env): boolean {
  return names.some((name) => env[name] !== undefined);
}
