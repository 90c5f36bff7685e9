import type { Question, Reply } from './ask.ts';
import type { Session, StreamCredentials } from './sessions.ts';

/** The test's requests to the agent, and their answers, with one JSON object per line, over stdin and stdout. */
export interface AgentCalls {
  ask(question: Omit<Question, 'agent'>): Promise<Reply>;
  /** Tries to connect. If a NetworkPolicy forbids it, the result is `timeout`. */
  connect(target: { readonly host: string; readonly port: number }): Promise<'connected' | 'refused' | 'timeout'>;
  newSession(target: { readonly api: string }): Promise<Session>;
  walkMainPath(target: Target): Promise<MainPathReport>;
  startLoad(order: LoadOrder): Promise<null>;
  /** Returns the results since the last look, including those of requests under way. */
  lookAtLoad(): Promise<LoadReport>;
  stopLoad(): Promise<LoadReport>;
  startFleet(order: StreamsOrder): Promise<null>;
  /** Returns the results since the last look, when every stream is open again or 45 s have passed. */
  lookAtFleet(): Promise<FleetReport>;
  stopFleet(): Promise<FleetReport>;
  logOutAcross(order: AcrossOrder): Promise<readonly AcrossReport[]>;
  walkCloses(order: Target & { readonly by: StreamCredentials }): Promise<readonly CloseReport[]>;
  /** Returns when the tokens of two new streams and the streams have ended, so tokens must be short-lived. */
  outliveTokens(order: Target): Promise<readonly CloseReport[]>;
  holdIdle(order: StreamsOrder): Promise<null>;
  /** Reports on the idle streams, and ends them. */
  lookAtIdle(): Promise<IdleReport>;
  registerMany(order: { readonly api: string; readonly count: number }): Promise<RegistrationsReport>;
  /**
   * Has the receiver in the same pod take `ms` milliseconds for each delivery, and answer with `status` in place of
   * 204.
   */
  paceReceiver(order: { readonly ms: number; readonly status?: number }): Promise<null>;
  /** Counts the events about these accounts that the receiver in the same pod has received. */
  countArrivals(order: RegistrationsReport): Promise<ArrivalsReport>;
}

/** The URLs of api and gateway. */
export interface Target {
  readonly api: string;
  readonly push: string;
}

export interface StreamsOrder extends Target {
  readonly streams: number;
}

export interface RegistrationsReport {
  /** The ids of the accounts. */
  readonly users: readonly string[];
}

export interface ArrivalsReport {
  /** Number of accounts about which an event has arrived. */
  readonly users: number;
  /** Number of events about these accounts, each id counted once. */
  readonly events: number;
  /** Number of deliveries of an event that had arrived before. */
  readonly repeated: number;
}

export interface MainPathReport {
  readonly registerMs: number;
  readonly loginMs: number;
  readonly logoutMs: number;
  /** Milliseconds from the request of the logout to the close frame. */
  readonly closeMs: number;
  readonly code: number;
  readonly reason: string;
  /** Milliseconds from the 201 to the event's arrival at the receiver. */
  readonly eventMs: number;
  readonly eventType: string;
  /** The status of the second logout. */
  readonly again: number;
}

export interface LoadOrder {
  readonly api: string;
  readonly perSecond: number;
  readonly users: number;
}

export interface LoadReport {
  readonly seconds: number;
  /** The ordered number of requests per second. */
  readonly perSecond: number;
  readonly requests: number;
  readonly failed: number;
  /** Numbers of failures, by kind. */
  readonly failures: Readonly<Record<string, number>>;
  /** Times of the first failures, in seconds since the last look. */
  readonly failedAt: readonly string[];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface FleetReport {
  readonly open: number;
  /** Numbers of streams that ended, by code and reason. */
  readonly closed: Readonly<Record<string, number>>;
  readonly reopened: number;
  /** Numbers of handshakes that failed, by answer. */
  readonly refused: Readonly<Record<string, number>>;
  /** The longest time in milliseconds that an app had no stream. */
  readonly maxAwayMs: number;
}

export interface AcrossOrder {
  /** URLs of individual pods. */
  readonly apis: readonly string[];
  readonly gateways: readonly string[];
  /** Number of logouts through each api of streams on each gateway. */
  readonly each: number;
}

export interface AcrossReport {
  readonly api: string;
  readonly gateway: string;
  /** Milliseconds from the request of the logout to the close frame. */
  readonly closeMs: readonly number[];
  /** Codes and reasons of the closes. */
  readonly ends: readonly string[];
  /** Number of other streams that closed during the logouts. */
  readonly strays: number;
}

export interface CloseReport {
  readonly signInMethod: string;
  /** The code and reason of the close, or the answer to a refused handshake. */
  readonly end: string;
  /** Milliseconds from the request that ends the stream to the close frame. */
  readonly ms: number;
}

export interface IdleReport {
  readonly open: number;
  readonly ends: readonly string[];
  readonly seconds: number;
}
