import { type CloseReason, closeCodes } from '@auth-account/contracts/push/close-codes';
import type { RedisKeys } from '@auth-account/redis';
import type { Redis } from 'ioredis';

/** A stream that a gateway closed because of a command, or a pending upgrade that it refused because of a command. */
export interface CloseRecord {
  /** `X-Request-ID` of the request that caused the command. */
  readonly requestId: string;
  readonly sessionId: string;
  readonly code: number;
  readonly reason: CloseReason;
  /** Time at which the close frame was written to the socket, in milliseconds since the epoch. */
  readonly at: number;
  /** Milliseconds from the decision (by MongoDB's clock) to `at`. */
  readonly latencyMs: number;
  /** Host name of the gateway: the pod's name in Kubernetes. */
  readonly gateway: string;
}

export interface CloseRecorderDeps {
  readonly redis: Pick<Redis, 'pipeline'>;
  readonly keys: Pick<RedisKeys, 'closeRecords'>;
  /** Name of the gateway; every record contains it. */
  readonly gateway: string;
  /** Called with the number of records that were lost. */
  readonly onLost: (count: number, error: unknown) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export interface CloseRecorder {
  /** Records a close. The record is written later, in a batch, and the caller does not wait for that. */
  record(close: RecordedClose): void;
}

type RecordedClose = Omit<CloseRecord, 'code' | 'gateway'>;

/** Retention of records in milliseconds, and their approximate maximum number (Redis trims by whole nodes). */
const keptMs = 24 * 60 * 60_000;
const keptRecords = 100_000;
/**
 * Milliseconds for which closes, up to a maximum number, are collected for one round trip. A stopping gateway keeps
 * running for far longer.
 */
const batchMs = 20;
const maxBatch = 1_000;
const recordsPerQuestion = 1_000;

/**
 * Records a gateway's closes, in a Redis stream that keeps about one day. Records are for operators only. Each is
 * written at most once, and is lost while Redis is unreachable.
 */
export function createCloseRecorder(deps: CloseRecorderDeps): CloseRecorder {
  const { redis, keys, gateway, onLost, now = Date.now } = deps;
  let batch: RecordedClose[] = [];
  let timer: NodeJS.Timeout | undefined;

  async function write(records: readonly RecordedClose[]): Promise<void> {
    const pipeline = redis.pipeline();
    for (const record of records) pipeline.xadd(keys.closeRecords, '*', ...toFields(record, gateway));
    pipeline.xtrim(keys.closeRecords, 'MAXLEN', '~', keptRecords);
    pipeline.xtrim(keys.closeRecords, 'MINID', '~', now() - keptMs);
    pipeline.pexpire(keys.closeRecords, keptMs);
    const answers = (await pipeline.exec()) ?? [];
    const errors = answers.slice(0, records.length).flatMap(([error]) => error ?? []);
    if (errors.length > 0) onLost(errors.length, errors[0]);
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const records = batch;
    batch = [];
    try {
      await write(records);
    } catch (error) {
      onLost(records.length, error);
    }
  }

  return {
    record(close) {
      batch.push(close);
      timer ??= setTimeout(() => void flush(), batchMs);
      if (batch.length >= maxBatch) void flush();
    },
  };
}

export interface CloseRecordQuery {
  readonly requestId: string;
  /** Start of the search, in milliseconds since the epoch by Redis's clock; default: the oldest record. */
  readonly since?: number;
}

/**
 * Finds the closes that a request caused, oldest first. Reads all records since `since`, so it is only for operators.
 */
export async function findCloseRecords(
  redis: Pick<Redis, 'xrange'>,
  keys: Pick<RedisKeys, 'closeRecords'>,
  { requestId, since }: CloseRecordQuery,
): Promise<CloseRecord[]> {
  const found: CloseRecord[] = [];
  let from = since === undefined ? '-' : String(Math.max(0, Math.floor(since)));
  for (;;) {
    const entries = await redis.xrange(keys.closeRecords, from, '+', 'COUNT', recordsPerQuestion);
    found.push(...entries.map(([, fields]) => toRecord(fields)).filter((record) => record.requestId === requestId));
    const last = entries.at(-1);
    if (last === undefined || entries.length < recordsPerQuestion) return found;
    from = `(${last[0]}`;
  }
}

type Fields = Readonly<
  Record<'request_id' | 'session_id' | 'code' | 'reason' | 'at' | 'latency_ms' | 'gateway', string>
>;

function toFields(record: RecordedClose, gateway: string): string[] {
  const fields: Fields = {
    request_id: record.requestId,
    session_id: record.sessionId,
    code: String(closeCodes[record.reason]),
    reason: record.reason,
    at: String(record.at),
    latency_ms: String(record.latencyMs),
    gateway,
  };
  return Object.entries(fields).flat();
}

function toRecord(list: readonly string[]): CloseRecord {
  const pairs = Array.from({ length: list.length / 2 }, (_, index) => [list[index * 2], list[index * 2 + 1]]);
  const fields = Object.fromEntries(pairs) as Fields;
  return {
    requestId: fields.request_id,
    sessionId: fields.session_id,
    code: Number(fields.code),
    reason: fields.reason as CloseReason,
    at: Number(fields.at),
    latencyMs: Number(fields.latency_ms),
    gateway: fields.gateway,
  };
}
