import type { CheckProblem } from '@auth-account/config';

/**
 * What EVENT_SUBSCRIBERS must be beyond its schema: each name once, a webhook with `secret` or `secrets`, and its host
 * among EVENT_ALLOWED_HOSTS where there are any. What the schema refuses already is passed over.
 */
export function checkSubscribers(value: unknown, variables: Readonly<Record<string, unknown>>): CheckProblem[] {
  const { EVENT_ALLOWED_HOSTS: allowed } = variables;
  const hosts = Array.isArray(allowed) ? allowed.filter((host) => typeof host === 'string') : [];
  const items = Array.isArray(value) ? value.map(asRecord) : [];
  const names = items.map(({ name }) => name);
  return items.flatMap((item, index) => [
    ...duplicateName(item, names.slice(0, index), index),
    ...(item.kind === 'webhook' ? [...secretProblems(item, index), ...hostProblems(item, hosts, index)] : []),
  ]);
}

type Item = Readonly<Record<string, unknown>>;

function asRecord(value: unknown): Item {
  return typeof value === 'object' && value !== null ? (value as Item) : {};
}

function duplicateName({ name }: Item, before: readonly unknown[], index: number): CheckProblem[] {
  if (typeof name !== 'string' || !before.includes(name)) return [];
  return [{ path: `/${index}/name`, message: 'must not be the name of another subscriber' }];
}

function secretProblems({ secret, secrets }: Item, index: number): CheckProblem[] {
  if ((secret === undefined) !== (secrets === undefined)) return [];
  return [{ path: `/${index}/secret`, message: 'must be there, or secrets, and not both' }];
}

function hostProblems({ url }: Item, hosts: readonly string[], index: number): CheckProblem[] {
  const host = typeof url === 'string' ? URL.parse(url)?.hostname : undefined;
  if (host === undefined) {
    return typeof url === 'string' ? [{ path: `/${index}/url`, message: 'must be a URL' }] : [];
  }
  if (hosts.length === 0 || hosts.some((allowed) => covers(allowed.toLowerCase(), host))) return [];
  return [{ path: `/${index}/url`, message: 'must have a host of EVENT_ALLOWED_HOSTS' }];
}

function covers(allowed: string, host: string): boolean {
  return allowed.startsWith('*.') ? host.endsWith(allowed.slice(1)) : host === allowed;
}
