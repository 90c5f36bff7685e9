import { loadKeyFile, writeKeyFile } from '@auth-account/tokens';
import {
  type AccessTokenAlgorithm,
  accessTokenAlgorithms,
  type KeySet,
  publicKeySet,
} from '@auth-account/verifier/access-token';
import { Argument, type Command, Option } from '@commander-js/extra-typings';
import { CommandError, exitCodes } from '../../cli/command-error.ts';
import { parseSpan } from '../../cli/parse-arguments.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { table } from '../../cli/table.ts';
import { type KeyConfig, keyConfig } from '../../config.ts';
import { type KeyKind, keyKinds, kindTraits } from './key-kinds.ts';
import { activateKey, pruneKeys, publishKey, type RotatingKey, statusOf } from './key-rotation.ts';
import { assertPublicFile, type KeyFile, publicFileAdvice, writePublicFile } from './public-file.ts';

/** Milliseconds for which other systems may cache a JWKS, and within which a key file reaches every pod. */
const propagationMs = 300_000;

const kindArgument = () => new Argument('<kind>', 'kind of the keys').choices(keyKinds);
const fileOption = () => new Option('--file <path>', 'key file to use instead of the one that the environment names');
const algorithmOption = () =>
  new Option('--algorithm <name>', 'algorithm of a new access token key; default: ACCESS_TOKEN_ALGORITHM').choices(
    accessTokenAlgorithms,
  );

const publicFileOption = () =>
  new Option('--public-file <path>', 'also write the public parts of access keys to this file, for the push gateway');

interface FileOptions {
  readonly file?: string | undefined;
  readonly publicFile?: string | undefined;
}

interface NewKeyOptions {
  readonly algorithm?: AccessTokenAlgorithm | undefined;
}

function keyFileOf(kind: KeyKind, { file, publicFile }: FileOptions, config: KeyConfig): KeyFile {
  const { variable } = kindTraits[kind];
  const path = file ?? config[variable];
  if (path === undefined)
    throw new CommandError(`Give --file, or set ${variable}.`, { exitCode: exitCodes.configuration });
  return { kind, path, publicPath: publicFile };
}

/** Returns the public facts that `keys` prints about a set. */
function factsOf({ keys }: KeySet) {
  return keys.map((key: RotatingKey, index) => ({
    kid: key.kid,
    standing: statusOf(key, index),
    type: key.crv === undefined ? key.kty : `${key.kty} ${key.crv}`,
    published_at: key.published_at ?? null,
    retired_at: key.retired_at ?? null,
  }));
}

function describeFile(target: KeyFile, set: KeySet, done?: object, headline: readonly string[] = []): Outcome {
  const { kind, path, publicPath } = target;
  const keys = factsOf(set);
  const rows = keys.map(({ kid, standing, type, published_at, retired_at }) => [
    kid,
    standing,
    type,
    published_at,
    retired_at,
  ]);
  const text = [
    ...headline,
    `${kind}: ${path}`,
    ...(publicPath === undefined ? [] : [`public: ${publicPath}`]),
    table(['kid', 'standing', 'type', 'published', 'retired'], rows),
  ];
  const publicFile = publicPath === undefined ? {} : { public_file: publicPath };
  return { json: { kind, file: path, ...publicFile, ...done, keys }, text: text.join('\n') };
}

/** Describes the change, and the remaining steps. */
function describeChange(target: KeyFile, set: KeySet, done: object, headline: string): Outcome {
  const advice = publicFileAdvice(target);
  return describeFile(target, set, done, [headline, ...(advice === undefined ? [] : [advice])]);
}

async function readSet({ kind, path }: KeyFile): Promise<KeySet> {
  try {
    const set = await loadKeyFile(path);
    kindTraits[kind].check(set);
    return set;
  } catch (error) {
    throw new CommandError(`${path}: ${(error as Error).message.replace(`${path}: `, '')}`, {
      exitCode: exitCodes.configuration,
      cause: error,
    });
  }
}

async function generate(file: KeyFile, { algorithm }: NewKeyOptions, config: KeyConfig): Promise<Outcome> {
  const { kind, path } = file;
  await assertPublicFile(file);
  const set: KeySet = { keys: [await kindTraits[kind].generate(algorithm ?? config.ACCESS_TOKEN_ALGORITHM)] };
  try {
    await writeKeyFile(path, set, { replace: false });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'EEXIST' ? `${path} is there already: to add a key, use keys rotate.` : message;
    throw new CommandError(reason, { cause: error });
  }
  // The public file is written only now, because the public file of an existing key file must stay as it is.
  await writePublicFile(file, set);
  return describeChange(file, set, {}, 'Written.');
}

interface RotateOptions extends NewKeyOptions {
  readonly activate?: true | undefined;
  readonly prune?: true | undefined;
  readonly now?: true | undefined;
  readonly keep?: number | undefined;
}

/** Writes the public file first, because no key may sign before the push gateway can get its public part. */
async function replace(file: KeyFile, set: KeySet): Promise<void> {
  await writePublicFile(file, set);
  await writeKeyFile(file.path, set, { replace: true });
}

async function rotate(file: KeyFile, options: RotateOptions, config: KeyConfig, at: Date): Promise<Outcome> {
  const traits = kindTraits[file.kind];
  await assertPublicFile(file);
  const set = await readSet(file);
  if (options.activate) {
    const activated = activateKey(set, at, options.now ? 0 : propagationMs);
    await replace(file, activated);
    return describeChange(file, activated, { step: 'activate' }, `Key ${activated.keys[0].kid} is the first now.`);
  }
  if (options.prune) return prune(file, set, at, options.keep ?? traits.usefulSeconds(config) * 1_000);
  const published = publishKey(set, await traits.generate(options.algorithm ?? config.ACCESS_TOKEN_ALGORITHM), at);
  await replace(file, published);
  const headline = `Published. When every process has it (${propagationMs / 1_000} s): keys rotate ${file.kind} --activate.`;
  return describeChange(file, published, { step: 'publish' }, headline);
}

async function prune(file: KeyFile, set: KeySet, at: Date, keepMs: number): Promise<Outcome> {
  const { set: pruned, removed } = pruneKeys(set, at, keepMs);
  const done = { step: 'prune', removed };
  if (removed.length > 0) {
    await replace(file, pruned);
    return describeChange(file, pruned, done, `Removed: ${removed.join(', ')}.`);
  }
  await writePublicFile(file, pruned);
  return describeFile(file, pruned, done, ['No key is old enough.']);
}

/** Returns whether the command line names the key file. A named file does not belong to the local stack. */
function namedBy({ file }: FileOptions): { readonly isNamed: boolean } {
  return { isNamed: file !== undefined };
}

async function list(shell: Shell, kind: KeyKind | undefined, options: FileOptions): Promise<Outcome> {
  const config = shell.config(keyConfig, namedBy(options));
  const kinds = kind === undefined ? keyKinds.filter((each) => config[kindTraits[each].variable]) : [kind];
  if (kinds.length === 0)
    throw new CommandError('The environment names no key file.', { exitCode: exitCodes.configuration });
  const files = kinds.map((each) => keyFileOf(each, options, config));
  const outcomes = await Promise.all(files.map(async (file) => describeFile(file, await readSet(file))));
  return { json: outcomes.map(({ json }) => json), text: outcomes.map(({ text }) => text).join('\n\n') };
}

/** Shows the public keys with which the push gateway and internal services verify tokens. */
async function showPublic(file: KeyFile): Promise<Outcome> {
  const jwks = publicKeySet(await readSet(file));
  return { json: jwks, text: JSON.stringify(jwks, null, 2) };
}

/** Adds the commands `keys …`, which manage key files. Private parts are never printed. */
export function addKeyCommands(program: Command, shell: Shell): void {
  const keys = program.command('keys').description('key files: create, rotate and list them');
  keys
    .command('list')
    .description('list the keys of a file, or of all files that the environment names')
    .addArgument(new Argument('[kind]', 'kind of the keys').choices(keyKinds))
    .addOption(fileOption())
    .action((kind, options) => {
      if (options.file !== undefined && kind === undefined)
        throw new CommandError('--file needs a kind.', { exitCode: exitCodes.usage });
      return shell.conclude(list(shell, kind, options));
    });
  keys
    .command('generate')
    .description('write a key file with one new key; an existing file is never overwritten')
    .addArgument(kindArgument())
    .addOption(fileOption())
    .addOption(algorithmOption())
    .addOption(publicFileOption())
    .action((kind, options) => {
      const config = shell.config(keyConfig, namedBy(options));
      return shell.conclude(generate(keyFileOf(kind, options, config), options, config));
    });
  keys
    .command('public')
    .description('print the public parts of the access token keys, as in /.well-known/jwks.json')
    .addOption(fileOption())
    .action((options) =>
      shell.conclude(showPublic(keyFileOf('access', options, shell.config(keyConfig, namedBy(options))))),
    );
  keys
    .command('rotate')
    .description('publish a new key behind the first; then --activate it; finally --prune retired keys')
    .addArgument(kindArgument())
    .addOption(fileOption())
    .addOption(algorithmOption())
    .addOption(publicFileOption())
    .addOption(new Option('--activate', 'move the published key to the front').conflicts('prune'))
    .option('--prune', 'remove retired keys that are no longer needed')
    .option('--now', 'with --activate: do not wait until every process knows the key')
    .option(
      '--keep <span>',
      'with --prune: remove keys that were retired at least this long ago, such as 7d',
      parseSpan,
    )
    .action((kind, options) => {
      const config = shell.config(keyConfig, namedBy(options));
      return shell.conclude(rotate(keyFileOf(kind, options, config), options, config, shell.now()));
    });
}
