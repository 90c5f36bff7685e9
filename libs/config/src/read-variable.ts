import type { VariableSchema } from './variable-schema.ts';

/** Source of a variable's text: the environment and, for secrets, files. */
export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values for variables that the environment does not set, neither directly nor by a file. */
  readonly fallback?: Readonly<Record<string, string | undefined>> | undefined;
  readonly readFile: (path: string) => string;
}

/** Text of a variable (undefined: not set), or the reason why it could not be read. */
export type VariableText = { readonly text: string | undefined } | { readonly expected: string; readonly came: string };

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
export function readVariable(name: string, variable: VariableSchema, sources: ConfigSources): VariableText {
  const { env, fallback, readFile } = sources;
  const text = env[name] === '' ? undefined : env[name];
  const path = variable.secret ? env[`${name}_FILE`] : undefined;
  if (!path) return { text: text ?? fallback?.[name] };
  if (text !== undefined) return { expected: `${name} or ${name}_FILE, not both`, came: 'both' };
  return readSecretFile(path, readFile);
}
