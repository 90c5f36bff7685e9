import type { StreamCredentials } from './sessions.ts';

/** Requests of the test to the agent, and their answers: one JSON object per line, over stdin and stdout. */
export interface AgentCalls {
  ask(question: AskOrder): Promise<AskReport>;
  /** Tries to connect; a NetworkPolicy that forbids it shows as `timeout`. */
  connect(target: { readonly host: string; readonly port: number }): Promise<'connected' | 'refused' | 'timeout'>;
  newSession(target: { readonly api: string }): Promise<AgentSession>;
  walkMainPath(target: { readonly api: string; readonly push: string }): Promise<MainPathReport>;
  startLoad(order: LoadOrder): Promise<null>;
  /** Results since the last look, with the answers to requests under way. */
  lookAtLoad(): Promise<LoadReport>;
  stopLoad(): Promise<LoadReport>;
  startFleet(order: FleetOrder): Promise<null>;
  /** Results since the last look, once every stream is open again or 45 s have passed. */
  lookAtFleet(): Promise<FleetReport>;
  stopFleet(): Promise<FleetReport>;
  logOutAcross(order: AcrossOrder): Promise<readonly AcrossReport[]>;
  walkCloses(order: ClosesOrder): Promise<readonly CloseReport[]>;
  /** Returns when the tokens of two new streams have ended, and the streams too: so they must be short. */
  outliveTokens(order: TokenEndsOrder): Promise<readonly CloseReport[]>;
  holdIdle(order: IdleOrder): Promise<null>;
  /** Reports and ends the idle streams. */
  lookAtIdle(): Promise<IdleReport>;
  registerMany(order: { readonly api: string; readonly count: number }): Promise<RegistrationsReport>;
  /** Has the receiver in the same pod take this long for each delivery, and answer with this status in place of 204. */
  paceReceiver(order: { readonly ms: number; readonly status?: number }): Promise<null>;
  /** Counts what the receiver in the same pod has got about these accounts. */
  countArrivals(order: RegistrationsReport): Promise<ArrivalsReport>;
}

export interface RegistrationsReport {
  /** Ids of the accounts. */
  readonly users: readonly string[];
}

export interface ArrivalsReport {
  /** Accounts about which an event has arrived. */
  readonly users: number;
  /** Events about them, each counted once by its id. */
  readonly events: number;
  /** Deliveries of an event that had arrived before. */
  readonly repeated: number;
}

export interface AskOrder {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** False: without `X-Request-ID`. */
  readonly isNamed?: boolean;
}

export interface AskReport {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each caller knows the shape that it asserts.
  readonly json: any;
  readonly requestId?: string | undefined;
  readonly ms: number;
}

export interface AgentSession {
  readonly session_id: string;
  readonly access_token: string;
  readonly refresh_token: string;
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
  /** Status of the second logout. */
  readonly again: number;
}

export interface LoadOrder {
  readonly api: string;
  readonly perSecond: number;
  readonly users: number;
}

export interface LoadReport {
  readonly seconds: number;
  /** As ordered. */
  readonly perSecond: number;
  readonly requests: number;
  readonly failed: number;
  /** Number of failures, by kind. */
  readonly failures: Readonly<Record<string, number>>;
  /** Times of the first failures, in seconds since the last look. */
  readonly failedAt: readonly string[];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface FleetOrder {
  readonly api: string;
  readonly push: string;
  readonly streams: number;
}

export interface FleetReport {
  readonly open: number;
  /** Number of streams that ended, by code. */
  readonly closed: Readonly<Record<string, number>>;
  readonly reopened: number;
  /** Handshakes that failed, by answer. */
  readonly refused: Readonly<Record<string, number>>;
  /** Longest time without a stream, in ms. */
  readonly longestAwayMs: number;
}

export interface AcrossOrder {
  /** Addresses of individual pods. */
  readonly apis: readonly string[];
  readonly gateways: readonly string[];
  /** Logouts by each api of streams on each gateway. */
  readonly each: number;
}

export interface AcrossReport {
  readonly api: string;
  readonly gateway: string;
  /** Milliseconds from the request of the logout to the close frame. */
  readonly closeMs: readonly number[];
  /** Codes and reasons of the closes. */
  readonly ends: readonly string[];
  /** Number of other streams that closed meanwhile. */
  readonly strays: number;
}

export interface ClosesOrder {
  readonly api: string;
  readonly push: string;
  readonly by: StreamCredentials;
}

export interface TokenEndsOrder {
  readonly api: string;
  readonly push: string;
}

export interface CloseReport {
  readonly way: string;
  /** Code and reason of the close, or the answer to a refused handshake. */
  readonly end: string;
  /** Milliseconds from the request that ends the stream to the close frame. */
  readonly ms: number;
}

export interface IdleOrder {
  readonly api: string;
  readonly push: string;
  readonly streams: number;
}

export interface IdleReport {
  readonly open: number;
  readonly ends: readonly string[];
  readonly seconds: number;
}
