/** Requests of the test to the agent, and their answers: one JSON object per line, over stdin and stdout. */
export interface AgentCalls {
  ask(question: AskOrder): Promise<{ readonly status: number; readonly json: unknown; readonly ms: number }>;
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
}

export interface AskOrder {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
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
