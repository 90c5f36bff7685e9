import { namedServers, type ServerName } from './named-servers.ts';

export interface StoreOptions {
  readonly stores: readonly ServerName[];
  readonly isRecorded: boolean;
  /** The remaining arguments, which are for Jest. */
  readonly rest: readonly string[];
}

const isKnown = (name: string): name is ServerName => Object.hasOwn(namedServers, name);

/** Separates `--stores NAME,…` and `--record` from the other arguments. Throws if a name is unknown or missing. */
export function takeStores(args: readonly string[]): StoreOptions {
  const isRecorded = args.includes('--record');
  const others = args.filter((each) => each !== '--record');
  const at = others.findIndex((each) => each === '--stores' || each.startsWith('--stores='));
  if (at === -1) return { stores: [], isRecorded: false, rest: args };
  const [inline] = others[at]?.split('=').slice(1) ?? [];
  const names = (inline ?? others[at + 1] ?? '').split(',').filter(Boolean);
  const unknown = names.filter((name) => !isKnown(name));
  if (names.length === 0 || unknown.length > 0) {
    throw new Error(`--stores takes ${Object.keys(namedServers).join(',')}, not "${unknown.join(',')}"`);
  }
  const rest = others.toSpliced(at, inline === undefined ? 2 : 1);
  return { stores: names.filter(isKnown), isRecorded, rest };
}
