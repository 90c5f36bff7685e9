import type { Exchange } from '../../support/gateway/raw-connection.ts';
import type { TestStack } from '../../support/processes/test-stack.ts';
import type { Attack, Target } from './http-attacks.ts';

/** A port to which anybody may send bytes. */
export interface Surface extends Target {
  readonly name: string;
  readonly port: number;
  /** The HTTP parser behind it. */
  readonly parser: 'node' | 'uWebSockets.js';
  /** Milliseconds that the head of a request, and a whole request, may take (docs/security.md). */
  readonly headMs: number;
  readonly requestMs: number;
}

/** Returns every port of the three services. */
export function surfacesOf({ apiUrl, opsPorts }: TestStack, streamUrl: string): Surface[] {
  const ops = (name: keyof TestStack['opsPorts']): Surface => ({
    name: `ops port of the ${name}`,
    port: Number(opsPorts[name]),
    parser: 'node',
    readPath: '/livez',
    bodyPath: '/livez',
    headMs: 6_000,
    requestMs: 6_000,
  });
  return [
    {
      name: 'api',
      port: Number(new URL(apiUrl).port),
      parser: 'node',
      readPath: '/.well-known/jwks.json',
      bodyPath: '/api/v1/auth/refresh',
      headMs: 11_000,
      requestMs: 16_000,
    },
    {
      name: 'push-gateway',
      port: Number(new URL(streamUrl).port),
      parser: 'uWebSockets.js',
      readPath: '/nothing-is-here',
      bodyPath: '/nothing-is-here',
      // 10 s, checked every 4 s.
      headMs: 14_000,
      requestMs: 14_000,
    },
    ops('api'),
    ops('push-gateway'),
    ops('worker'),
  ];
}

/**
 * Returns what is wrong with the answer to an attack, or undefined. uWebSockets.js answers 505 to every request line
 * that it can't read. It is lenient with methods and names of headers, so the gateway answers 404 to such requests, and
 * to the request after them.
 */
export function findMisdeed(
  { parser }: Surface,
  { fate, isAmbiguous }: Attack,
  exchange: Exchange,
): string | undefined {
  const { statuses, endedMs } = exchange;
  if (endedMs === undefined) return 'the connection was left open';
  if (parser === 'node' && fate === 'answered') {
    return statuses.length === 2 && statuses.every((status) => status === 200) ? undefined : `answered ${statuses}`;
  }
  const max = parser === 'node' || isAmbiguous ? 1 : 2;
  if (statuses.length > max) return `answered more than ${max}: ${statuses}`;
  const isRefusal = (status: number) =>
    (status >= 400 && status < 500) || (parser === 'uWebSockets.js' && status === 505);
  return statuses.every(isRefusal) ? undefined : `answered ${statuses}`;
}
