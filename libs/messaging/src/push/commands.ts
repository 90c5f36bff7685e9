import { type CloseReason, closeCodes } from '@auth-account/contracts/push/close-codes';
import * as Type from '@auth-account/contracts/type';
import { publish, type RedisClient, type RedisKeys } from '@auth-account/redis';
import { context, propagation } from '@opentelemetry/api';
import { Compile } from 'typebox/schema';

const Reason = Type.Enum(Object.keys(closeCodes) as CloseReason[]);

/** Command to every gateway to close this session's stream. */
const CloseCommand = Type.Object({
  type: Type.Literal('close'),
  session_id: Type.String({ minLength: 1 }),
  reason: Reason,
  /**
   * A stream whose claims have this version or a newer one stays open, because it was renewed before the command came.
   */
  below: Type.Optional(Type.Integer()),
  request_id: Type.String(),
  /** W3C trace context of the request that decided the close, if the request is traced. */
  traceparent: Type.Optional(Type.String()),
  /** Time at which the close was decided, in milliseconds since the epoch. */
  decided_at: Type.Integer(),
});
export type CloseCommand = Type.Static<typeof CloseCommand>;

/** Command to every gateway to close, for each of these sessions, any stream with a number lower than the given one. */
const ReplaceCommand = Type.Object({
  type: Type.Literal('replace'),
  streams: Type.Array(Type.Object({ session_id: Type.String({ minLength: 1 }), stream_number: Type.Integer() }), {
    minItems: 1,
  }),
});
export type ReplaceCommand = Type.Static<typeof ReplaceCommand>;

export type GatewayCommand = CloseCommand | ReplaceCommand;

const validator = Compile(Type.Union([CloseCommand, ReplaceCommand]));

/** Encodes a command for the channel as JSON. A close command also contains the current trace. */
export function encodeCommand(command: GatewayCommand): string {
  const carrier: { traceparent?: string } = {};
  if (command.type === 'close') propagation.inject(context.active(), carrier);
  const { traceparent } = carrier;
  return JSON.stringify(traceparent === undefined ? command : { ...command, traceparent });
}

/** Reads the command in a message of the channel; undefined if the message is not a command. */
export function parseCommand(message: string): GatewayCommand | undefined {
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch {
    return undefined;
  }
  return validator.Check(value) ? value : undefined;
}

/** Publishes commands to all gateways. A command may be lost, doubled or late. */
export function createCommandPublisher(
  redis: RedisClient,
  keys: Pick<RedisKeys, 'commands'>,
): (command: GatewayCommand) => Promise<void> {
  return (command) => publish(redis, keys.commands, encodeCommand(command));
}

/**
 * KEYS: the last number. ARGV: how many numbers to take. A number is Redis's clock in microseconds, or one more than
 * the last number if that is higher. A plain counter would restart at 1 in a Redis that lost its data. Every new
 * connection would then be closed in favour of an old one.
 */
const nextScript = `
local time = redis.call('TIME')
local number = math.max(time[1] * 1000000 + time[2], tonumber(redis.call('GET', KEYS[1]) or '0') + 1)
redis.call('SET', KEYS[1], string.format('%.0f', number + ARGV[1] - 1))
return number`;

type NextCommand = (key: string, count: number) => Promise<number>;

/**
 * Numbers the streams of all gateways. Of two streams of one session, the stream with the higher number stays. The
 * function takes `count` consecutive numbers and returns the first.
 */
export function createStreamNumbers(
  redis: RedisClient,
  keys: Pick<RedisKeys, 'streamNumber'>,
): (count?: number) => Promise<number> {
  redis.defineCommand('nextStreamNumber', { numberOfKeys: 1, lua: nextScript });
  const next = (redis as unknown as { nextStreamNumber: NextCommand }).nextStreamNumber.bind(redis);
  return (count = 1) => next(keys.streamNumber, count);
}
