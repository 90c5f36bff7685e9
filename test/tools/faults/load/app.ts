import { type AppRequest, type Reply, sendFromApp } from './app-request.ts';
import type { AppStream } from './app-stream.ts';
import type { History, Outcome, Sort } from './history.ts';
import type { Ledger, SessionRecord } from './ledger.ts';

/** What all apps share. */
export interface World {
  readonly history: History;
  readonly ledger: Ledger;
  readonly apiPorts: readonly number[];
  readonly gatewayPorts: readonly number[];
  /** Set where apps that have no answer yet give up. */
  isOver?: boolean;
  nextRequestId(): string;
}

/** An installation of the app. */
export interface Device {
  readonly deviceId: string;
  session?: SessionRecord | undefined;
  refreshToken: string;
  stream?: AppStream | undefined;
  /** Its access token was refused, or is about to be. */
  mustRefresh: boolean;
}

/** A user with one or two devices, who does one thing at a time. */
export interface Person {
  readonly id: number;
  readonly random: () => number;
  readonly email: string;
  readonly password: string;
  readonly devices: readonly Device[];
  /** How long its apps wait for an answer. */
  readonly timeoutMs: number;
  userId?: string;
  /** Where the apps were told that the user is; undefined while a change of group has no answer. */
  groupId: string | undefined;
  isOwner: boolean;
  stepsLeft: number;
}

/** One device at work. */
export interface App {
  readonly world: World;
  readonly person: Person;
  readonly device: Device;
}

/** What is asked, and how it counts. */
export interface Call {
  readonly kind: string;
  readonly sort: Sort;
  /** Made anew for each attempt, which may have newer tokens. */
  readonly request: () => AppRequest;
}

export interface Answered {
  /** Undefined where the run ended before there was one. */
  readonly reply: Reply | undefined;
  /** An earlier attempt may have had its effect. */
  readonly wasUnsure: boolean;
}

const tooManyRequests = 429;
const longestPauseMs = 5_000;

function outcomeOf(reply: Reply | undefined): Outcome {
  if (reply === undefined || reply.status >= 500 || reply.status === tooManyRequests) return 'unknown';
  return reply.status < 300 ? 'acknowledged' : 'refused';
}

/** Any of them, as a load balancer chooses. */
export function anyOf<T>(random: () => number, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * Asks again, after a pause that grows to five seconds, until there is an answer to go by: what a good app does with a
 * lost answer, a 503 or a 429. A 500 is a fault of the service.
 */
export async function callUntilAnswered(
  { world, person }: Pick<App, 'world' | 'person'>,
  call: Call,
): Promise<Answered> {
  const { history } = world;
  for (let attempt = 0; ; attempt += 1) {
    const at = history.now();
    const requestId = world.nextRequestId();
    const api = Math.floor(person.random() * world.apiPorts.length);
    const { timeoutMs } = person;
    const reply = await sendFromApp(call.request(), { port: world.apiPorts[api] ?? 0, requestId, timeoutMs });
    const outcome = outcomeOf(reply);
    const { status, code } = reply ?? {};
    const took = history.now() - at;
    const { kind, sort } = call;
    history.record({
      kind,
      sort,
      person: person.id,
      requestId,
      via: `api-${api + 1}`,
      outcome,
      status,
      code,
      at,
      took,
    });
    if (status === 500) history.violate('an answer was 500', { kind, requestId });
    if (outcome !== 'unknown') return { reply, wasUnsure: attempt > 0 };
    if (world.isOver) return { reply: undefined, wasUnsure: true };
    await pause((0.5 + person.random() / 2) * Math.min(longestPauseMs, 200 * 2 ** attempt));
  }
}
