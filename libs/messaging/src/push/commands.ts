import { type CloseReason, closeCodes } from '@auth-account/contracts';
import { context, propagation } from '@opentelemetry/api';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

const Reason = Type.Enum(Object.keys(closeCodes) as CloseReason[]);

/** To every gateway: close this session's stream. */
const CloseCommand = Type.Object({
  type: Type.Literal('close'),
  session_id: Type.String({ minLength: 1 }),
  reason: Reason,
  /** Spares a stream whose claims are of this version or newer: it has moved on before the command came. */
  below: Type.Optional(Type.Integer()),
  request_id: Type.String(),
  /** W3C trace context of whoever decided it, where that is traced. */
  traceparent: Type.Optional(Type.String()),
  /** When the cause was decided, milliseconds since the epoch. */
  decided_at: Type.Integer(),
});
export type CloseCommand = Type.Static<typeof CloseCommand>;

/** To every gateway: these sessions have streams of those numbers; close the ones with a lower number. */
const ReplaceCommand = Type.Object({
  type: Type.Literal('replace'),
  streams: Type.Array(Type.Object({ session_id: Type.String({ minLength: 1 }), stream_number: Type.Integer() }), {
    minItems: 1,
  }),
});
export type ReplaceCommand = Type.Static<typeof ReplaceCommand>;

export type GatewayCommand = CloseCommand | ReplaceCommand;

const validator = Compile(Type.Union([CloseCommand, ReplaceCommand]));

/** A command as it goes over the channel: JSON, a close command with the trace that it is sent in. */
export function encodeCommand(command: GatewayCommand): string {
  const carrier: { traceparent?: string } = {};
  if (command.type === 'close') propagation.inject(context.active(), carrier);
  const { traceparent } = carrier;
  return JSON.stringify(traceparent === undefined ? command : { ...command, traceparent });
}

/** The command in a message of the channel; undefined for what is none, which the caller logs. */
export function parseCommand(message: string): GatewayCommand | undefined {
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch {
    return undefined;
  }
  return validator.Check(value) ? value : undefined;
}
