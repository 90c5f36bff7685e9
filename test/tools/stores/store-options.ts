import { namedServers, type ServerName } from './named-servers.ts';

export interface StoreOptions {
  readonly stores: readonly ServerName[];
  /** The remaining arguments, which are for Jest. */
  readonly rest: readonly string[];
}

const isKnown = (name: string): name is ServerName => Object.hasOwn(namedServers, name);

/** Separates `--stores NAME,…` from the other arguments. Throws if a name is unknown or missing. */
export function takeStores(args: readonly string[]): StoreOptions {
  const at = args.findIndex((each) => each === '--stores' || each.startsWith('--stores='));
  if (at === -1) return { stores: [], rest: args };
  const [inline] = args[at]?.split('=').slice(1) ?? [];
  const names = (inline ?? args[at + 1] ?? '').split(',').filter(Boolean);
  const unknown = names.filter((name) => !isKnown(name));
  if (names.length === 0 || unknown.length > 0) {
    throw new Error(`--stores takes ${Object.keys(namedServers).join(',')}, not "${unknown.join(',')}"`);
  }
  return { stores: names.filter(isKnown), rest: args.toSpliced(at, inline === undefined ? 2 : 1) };
}
