import type { AuthEvent } from '@auth-account/contracts/events';
import { waitUntil } from '@auth-account/local-stack';
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
  /** Resolves when the event of the user's registration has arrived at a subscriber. */
  waitForEvent(userId: string): Promise<Arrival & { readonly where: string }>;
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

/** Calls `look` until it returns a value. Throws an error that names `what` if there is none within 60 s. */
export async function poll<T>(what: string, look: () => T | undefined): Promise<T> {
  await waitUntil(async () => look() !== undefined, { what, timeoutMs: 60_000, intervalMs: 2 });
  return look() as T;
}

/** Resolves with the event of the user's registration when it is among the arrivals. */
export function pollArrivals<A extends Arrival>(arrivals: readonly A[], userId: string): Promise<A> {
  const isWanted = ({ event }: A) => event.subject === userId && event.type === 'service.auth.events.registered';
  return poll('the event', () => arrivals.find(isWanted));
}
