import { type AppRequest, type Reply, sendFromApp } from './app-request.ts';
import type { AppStream } from './app-stream.ts';
import type { History, Outcome, Sort } from './history.ts';
import type { AccountRecord, ChangeRecord, Credentials, Deletion, Ledger, SessionRecord } from './ledger.ts';

/** Everything that was mailed to users. */
export interface Mailbox {
  /** Returns the code of a challenge if it has arrived, and its address. */
  codeOf(challengeId: string): { readonly email: string; readonly code: string } | undefined;
  /** Returns true if a mail to the address had the text. */
  wasMailed(email: string, text: string): boolean;
  /** Takes out the token of the newest notice to that address of a change that can be undone; none comes twice. */
  takeUndoToken(email: string): string | undefined;
}

/** Objects that all apps share. */
export interface World {
  readonly history: History;
  readonly ledger: Ledger;
  readonly apiPorts: readonly number[];
  readonly gatewayPorts: readonly number[];
  readonly mailbox: Mailbox;
  /** Set once apps without an answer give up. */
  isOver?: boolean;
  nextRequestId(): string;
}

/** An installation of the app. */
export interface Device {
  readonly deviceId: string;
  session?: SessionRecord | undefined;
  refreshToken: string;
  stream?: AppStream | undefined;
  /** True if its access token was refused, or is about to be. */
  mustRefresh: boolean;
}

/** A code that its user waits for. */
export interface Errand {
  readonly purpose: 'password_reset' | 'email_change' | 'account_deletion';
  readonly challengeId: string;
  /** Address that the code goes to. */
  readonly email: string;
  /** True if an earlier request without an answer may overtake this one, and end its challenge. */
  readonly wasUnsure: boolean;
  /** By the history's clock. */
  readonly askedAt: number;
}

/** A user with one or two devices, who does one thing at a time. */
export interface Person {
  readonly id: number;
  readonly random: () => number;
  /** Pairs of which one logs in, the likeliest first; a login shows which if there are several. Never empty. */
  holds: readonly Credentials[];
  readonly devices: readonly Device[];
  /** Milliseconds that its apps wait for an answer. */
  readonly timeoutMs: number;
  userId?: string;
  account?: AccountRecord;
  /** Changes that have taken effect if the first pair logs in. */
  unsureChanges?: readonly ChangeRecord[] | undefined;
  errand?: Errand | undefined;
  /** Former address to which the user wants to go back. */
  wantedAddress?: string | undefined;
  deletion?: Deletion | undefined;
  /** Group of the user according to the apps' answers; undefined while a change of group has no answer. */
  groupId: string | undefined;
  isOwner: boolean;
  stepsLeft: number;
}

/** One device at work. Without the client of apps: what it was told is compared answer by answer. */
export interface App {
  readonly world: World;
  readonly person: Person;
  readonly device: Device;
}

/** Sender of a request. */
export interface Caller {
  readonly world: World;
  readonly person: Pick<Person, 'id' | 'random' | 'timeoutMs'>;
}

/** An operation, and its place in the statistics. */
export interface Call {
  readonly kind: string;
  readonly sort: Sort;
  /** Created for each attempt, which may have newer tokens. */
  readonly request: () => AppRequest;
}

export interface Answered {
  /** The answer; undefined if the run ended before there was one. */
  readonly reply: Reply | undefined;
  /** True if an earlier attempt may have taken effect. */
  readonly wasUnsure: boolean;
}

const tooManyRequests = 429;
const longestPauseMs = 5_000;

function outcomeOf(reply: Reply | undefined): Outcome {
  if (reply === undefined || reply.status >= 500 || reply.status === tooManyRequests) return 'unknown';
  return reply.status < 300 ? 'acknowledged' : 'refused';
}

/** Returns any of them, as a load balancer does. */
export function anyOf<T>(random: () => number, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * Repeats the request, with pauses that grow to five seconds, until there is a final answer: the proper reaction of an
 * app to a lost answer, a 503 or a 429. A 500 counts as a fault of the service.
 */
export async function callUntilAnswered({ world, person }: Caller, call: Call): Promise<Answered> {
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
