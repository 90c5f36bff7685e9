import { parseArgs } from 'node:util';
import { namedServers, type ServerName } from './named-servers.ts';

const options = {
  stores: { type: 'string' },
  node: { type: 'string' },
  bundles: { type: 'boolean' },
  costs: { type: 'boolean' },
} as const;

export type OwnOptions = ReturnType<typeof takeOptions>;

const isKnown = (name: string): name is ServerName => Object.hasOwn(namedServers, name);

/** Separates the options of `npm test` itself from Jest's. Throws if a store is unknown or missing. */
export function takeOptions(args: string[]) {
  const { values, tokens } = parseArgs({ args, options, strict: false, tokens: true });
  const own = tokens.flatMap((token) => (token.kind === 'option' && token.name in options ? [token] : []));
  const taken = own.flatMap(({ index, inlineValue }) => (inlineValue === false ? [index, index + 1] : [index]));
  const { stores, node, bundles = false, costs = false } = values;
  const names = stores === undefined ? [] : String(stores).split(',');
  const unknown = names.filter((name) => !isKnown(name));
  if (unknown.length > 0) {
    throw new Error(`--stores takes ${Object.keys(namedServers).join(',')}, not "${unknown.join(',')}"`);
  }
  /** `rest` is for Jest. */
  return { stores: names.filter(isKnown), node, bundles, costs, rest: args.filter((_, at) => !taken.includes(at)) };
}
