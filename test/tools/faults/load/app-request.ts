import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RouteName } from '@auth-account/contracts';
import { bearer, type Input, requestTo } from '../../../support/api/api-driver.ts';
import { type Answer, keepConnections, send } from '../../../support/http-client.ts';
import type { World } from './app.ts';
import type { Outcome, Sort } from './history.ts';

/** An answer to a request. */
export interface Reply {
  readonly status: number;
  /** The `error_code` of an error. */
  readonly code: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
  /** The `details` of an error. */
  readonly details: Readonly<Record<string, unknown>>;
}

interface RequestHead {
  readonly accessToken?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** The client's network, as a proxy reports it. */
  readonly network?: string | undefined;
}

type AppRequest = ReturnType<typeof requestTo> & RequestHead;

interface SendOptions {
  /** URL of the api. */
  readonly api: string;
  readonly requestId: string;
  /** Milliseconds after which the app gives up and closes the connection. */
  readonly timeoutMs: number;
}

const agent = keepConnections({ maxSockets: 500 });

/** Sends a request as an app does, over kept connections. Returns undefined if no complete answer came. */
export function sendFromApp(request: AppRequest, { api, requestId, timeoutMs }: SendOptions) {
  const { method, path, body = {}, accessToken, idempotencyKey, network } = request;
  const headers = {
    'Content-Type': 'application/json',
    'X-Request-ID': requestId,
    ...(accessToken === undefined ? {} : bearer(accessToken)),
    ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
    ...(network === undefined ? {} : { 'X-Forwarded-For': network }),
  };
  const sent = { method, path, headers, agent, signal: AbortSignal.timeout(timeoutMs) };
  return send(api, method === 'POST' ? { ...sent, body } : sent).then(replyOf, () => undefined);
}

function replyOf({ status, json }: Answer): Reply | undefined {
  if (json === undefined) return undefined;
  const { error_code: code, data = {}, details = {} } = json;
  return { status, code, data, details };
}

/** Closes the kept connections. */
export function endAppConnections(): void {
  agent.destroy();
}

/** The sender of a request. */
export interface Caller {
  readonly world: World;
  readonly person: {
    readonly id: number | string;
    readonly random: () => number;
    /** Milliseconds for which the person's apps wait for an answer. */
    readonly timeoutMs: number;
  };
}

/** An operation, and the kinds under which the statistics count it. */
export interface Call {
  readonly kind: string;
  readonly sort: Sort;
  /** Builds the request anew for each attempt, because there may be newer tokens. */
  readonly request: () => AppRequest;
}

/** Creates the call of an operation, which writes if nothing else is said. */
export function callOf<N extends RouteName>(
  kind: string,
  name: N,
  input?: Input<N> | (() => Input<N>),
  { sort = 'write', ...head }: RequestHead & { readonly sort?: Sort } = {},
): Call {
  return {
    kind,
    sort,
    request: () => ({ ...requestTo(name, typeof input === 'function' ? input() : input), ...head }),
  };
}

export interface Answered {
  /** The answer; undefined if the run ended before it came. */
  readonly reply: Reply | undefined;
  /** True if an earlier attempt may have taken effect. */
  readonly wasUnsure: boolean;
}

const tooManyRequests = 429;
const maxPauseMs = 5_000;

function outcomeOf(reply: Reply | undefined): Outcome {
  if (reply === undefined || reply.status >= 500 || reply.status === tooManyRequests) return 'unknown';
  return reply.status < 300 ? 'acknowledged' : 'refused';
}

/** Sends the request once to a random api, and records the answer. A 500 counts as a fault of the service. */
export async function callOnce({ world, person }: Caller, { kind, sort, request }: Call) {
  const { history, apis } = world;
  const { id, random, timeoutMs } = person;
  const [at, requestId] = [history.now(), randomUUID()];
  const api = Math.floor(random() * apis.length);
  const reply = await sendFromApp(request(), { api: apis[api] ?? '', requestId, timeoutMs });
  const [outcome, took] = [outcomeOf(reply), history.now() - at];
  const { status, code } = reply ?? {};
  history.record({ kind, sort, person: id, requestId, via: `api-${api + 1}`, outcome, status, code, at, took });
  if (status === 500) history.violate('an answer was 500', { kind, requestId });
  return { reply, outcome };
}

/**
 * Repeats the request, with pauses that grow to five seconds, until there is a final answer. An app should react like
 * this to a lost answer, a 503 or a 429.
 */
export async function callUntilAnswered(caller: Caller, call: Call): Promise<Answered> {
  const { world, person } = caller;
  for (let attempt = 0; ; attempt += 1) {
    const { reply, outcome } = await callOnce(caller, call);
    if (outcome !== 'unknown') return { reply, wasUnsure: attempt > 0 };
    if (world.isOver) return { reply: undefined, wasUnsure: true };
    await sleep((0.5 + person.random() / 2) * Math.min(maxPauseMs, 200 * 2 ** attempt));
  }
}

/** Reports a promise to the caller that was not kept, with the answer that shows it. */
export function violate(
  { world, person }: Caller,
  what: string,
  { status, code }: Partial<Reply> = {},
  detail: Readonly<Record<string, unknown>> = {},
): void {
  world.history.violate(what, { person: person.id, ...detail, ...(status && { status, code }) });
}

/** Judges a refusal. Returns true if an earlier attempt may have taken effect. */
export type Judge = (reply: Reply, wasUnsure: boolean) => boolean;

/**
 * Returns a judge that reports each refusal as a violation, unless an earlier attempt may be the reason of this status.
 */
export function allowing(status: number | undefined, caller: Caller, what: string): Judge {
  return (reply, wasUnsure) => {
    if (!wasUnsure || reply.status !== status) violate(caller, what, reply);
    return true;
  };
}
