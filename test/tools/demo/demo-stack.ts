import type { AuthEvent } from '@auth-account/contracts/events';
import { send } from '../../support/http-client.ts';

/** An event that has arrived at a subscriber. */
export interface Arrival {
  readonly event: AuthEvent;
  /** The time of its arrival, by `performance.now()`. */
  readonly at: number;
}

/** The stack that the story runs against. */
export interface DemoStack {
  /** The base URL of the api. */
  readonly api: string;
  /** Resolves when an event about the user, by default the registration's, has arrived at a subscriber. */
  waitForEvent(userId: string, type?: AuthEvent['type']): Promise<Arrival & { readonly where: string }>;
  /** Resolves with a queue consumer's message about the group's event; undefined if the stack has no such consumer. */
  waitForConsumer?(groupId: string): Promise<string>;
  close(): Promise<void>;
}

const { API_PORT = '8080', API_OPS_PORT = '9080' } = process.env;

/** The base URL of the api of a stack on this machine. */
export const apiUrl = `http://127.0.0.1:${API_PORT}`;

/** Returns true if a stack runs on the usual ports. */
export async function isRunning(): Promise<boolean> {
  try {
    return (await send(`http://127.0.0.1:${API_OPS_PORT}`, { method: 'GET', path: '/readyz' })).status === 200;
  } catch {
    return false;
  }
}

/** Returns the first arrival of an event of this type about the user. */
export function findArrival<A extends Arrival>(
  arrivals: readonly A[],
  userId: string,
  type: AuthEvent['type'],
): A | undefined {
  return arrivals.find(({ event }) => event.subject === userId && event.type === type);
}

const timeoutMs = 60_000;
const pauseMs = 2;

/** Calls `look` until it returns a value. Throws an error that names `what` if there is none within 60 s. */
export async function poll<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`${what} did not arrive within ${timeoutMs / 1_000} s`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
