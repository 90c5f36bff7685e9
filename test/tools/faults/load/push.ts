import { randomUUID } from 'node:crypto';
import { closeCodes, type NewDevicePayload, newDeviceTopic, type ServerFrame } from '@auth-account/contracts';
import { openGreeted, type StreamClient } from '../../../support/gateway/push-client.ts';
import type { App } from './app.ts';
import type { Outcome } from './history.ts';
import type { SessionRecord } from './ledger.ts';
import { refresh } from './sessions.ts';

/** An app's open push stream, whose `hello` the app has received. */
export type AppStream = Pick<StreamClient, 'isOpen' | 'terminate'>;

export interface StreamOptions {
  readonly url: string;
  readonly accessToken: string;
  readonly requestId: string;
  readonly timeoutMs: number;
  /** Called with each frame after the `hello`. */
  readonly onFrame?: (frame: ServerFrame) => void;
  /** Called with the stream's close code, if the stream was open. */
  readonly onClose?: (code: number) => void;
}

/** Opens the stream. Returns the status of a refusal, or undefined if no answer came. */
export async function openAppStream(options: StreamOptions): Promise<AppStream | number | undefined> {
  const { url, accessToken: token, requestId, timeoutMs: handshakeTimeout, onFrame, onClose } = options;
  const handshake = { token, headers: { 'X-Request-ID': requestId }, handshakeTimeout };
  const stream = await openGreeted(url, handshake, 0).catch((error: Error) => error);
  if (stream instanceof Error) {
    const status = /server response: (\d+)/.exec(stream.message)?.[1];
    return status === undefined ? undefined : Number(status);
  }
  stream.socket.on('message', (data) => onFrame?.(JSON.parse(String(data))));
  stream.socket.on('close', (code) => onClose?.(code));
  return stream;
}

const switchingProtocols = 101;
const refusals: ReadonlySet<number> = new Set([401, 403, 429]);

const saysLogIn: ReadonlySet<number> = new Set([closeCodes.LOGOUT_CONFIRMED, closeCodes.SESSION_REVOKED]);
const saysOver: ReadonlySet<number> = new Set([...saysLogIn, closeCodes.SESSION_REPLACED]);

/** Reacts to the close of a stream as an app does, and reports codes that the app must never get. */
function onClose(app: App, session: SessionRecord, stream: AppStream, code: number): void {
  const { world, person, device } = app;
  const { sessionId } = session;
  const detail = { person: person.id, sessionId, code };
  session.streams.delete(stream);
  // This concerns also a stream that the app has replaced. It gets 4005, which requires no reaction.
  if (session.isReplaced && saysLogIn.has(code)) {
    world.history.violate('an app that had logged in again was asked to log in', detail);
  }
  world.history.note('stream closed', detail);
  if (device.stream !== stream) return;
  device.stream = undefined;
  if (saysOver.has(code) && session.state === 'live') {
    world.history.violate('the stream of a live session was ended', detail);
  }
  if (code === closeCodes.STREAM_REPLACED) world.history.violate('the newest stream of a session was replaced', detail);
  if (code === closeCodes.TOKEN_EXPIRED || code === closeCodes.GROUP_CHANGED) device.mustRefresh = true;
}

/** Records the message of a login on another device, which must be another session of the same user. */
export function onFrame({ world, person }: App, session: SessionRecord, frame: ServerFrame): void {
  if (frame.type !== 'message' || frame.topic !== newDeviceTopic) return;
  const { session_id: sessionId } = frame.payload as NewDevicePayload;
  const detail = { person: person.id, sessionId, at: session.sessionId };
  world.history.note('a new device seen', detail);
  const owner = world.ledger.sessions.get(sessionId)?.userId ?? person.userId;
  if (owner !== person.userId || sessionId === session.sessionId) {
    world.history.violate('an app was notified of a new device that is not another one of its user', detail);
  }
}

/** Opens the device's stream through a random gateway. After a refused token it refreshes once. */
export async function openStream(app: App): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    if (app.device.mustRefresh && (await refresh(app)) !== 'refreshed') return;
    const answer = await tryToOpen(app);
    if (answer !== 401) return;
    app.device.mustRefresh = true;
  }
}

/** Tries to open the stream, and returns the status of the gateway's answer; undefined without an answer. */
async function tryToOpen(app: App): Promise<number | undefined> {
  const { world, person, device } = app;
  const { session } = device;
  if (session === undefined) return undefined;
  const { history } = world;
  const gateway = Math.floor(person.random() * world.gateways.length);
  const at = history.now();
  const requestId = randomUUID();
  let opened: AppStream | undefined;
  const answer = await openAppStream({
    url: `${world.gateways[gateway]}${session.streamPath}`,
    accessToken: session.accessToken,
    requestId,
    timeoutMs: person.timeoutMs,
    onFrame: (frame) => onFrame(app, session, frame),
    onClose: (code) => opened && onClose(app, session, opened, code),
  });
  let status: number | undefined;
  let outcome: Outcome;
  if (typeof answer === 'object') {
    opened = answer;
    session.streams.add(opened);
    device.stream = opened;
    [status, outcome] = [switchingProtocols, 'acknowledged'];
  } else [status, outcome] = [answer, answer !== undefined && refusals.has(answer) ? 'refused' : 'unknown'];
  const common = { kind: 'stream', sort: 'stream', person: person.id, requestId, code: undefined } as const;
  history.record({ ...common, via: `gateway-${gateway + 1}`, outcome, status, at, took: history.now() - at });
  return status;
}
