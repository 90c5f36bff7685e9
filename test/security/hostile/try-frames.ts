import { type GatewayFixture, newDevice, signToken } from '../../support/gateway/gateway-fixture.ts';
import { openRawStream, type RawStream } from '../../support/gateway/raw-connection.ts';
import { encodeFrame, type FrameAttack, type OddFrames, opcodes, ping } from './frame-attacks.ts';

/** Gateway and user of the streams. With any key of the services, a test can sign a token that the gateway accepts. */
export interface FrameTarget {
  /** `ws://…` of the gateway. */
  readonly base: string;
  readonly env: GatewayFixture['env'];
}

/** Milliseconds after which a stream counts as hanging. */
const deadlineMs = 60_000;

/** Returns what is wrong if illegal frames do not end their stream, or undefined if they do. */
export async function findSurvival(target: FrameTarget, { bytes }: FrameAttack): Promise<string | undefined> {
  const { stream } = await open(target);
  stream.socket.write(bytes);
  const isEnded = await within(stream.ended);
  stream.socket.destroy();
  return isEnded ? undefined : 'the stream was not ended';
}

/** Returns what is wrong if odd frames end their stream or get a wrong answer, or undefined if neither. */
export async function findLoss(target: FrameTarget, { bytes, pongs }: OddFrames): Promise<string | undefined> {
  const { stream, heard } = await open(target, pongs + 1);
  stream.socket.write(Buffer.concat([bytes, encodeFrame({ opcode: opcodes.text, payload: ping })]));
  const isHeard = await within(Promise.race([heard, stream.ended.then(() => Promise.reject(new Error('ended')))]));
  stream.socket.destroy();
  return isHeard ? undefined : 'the stream was not kept';
}

/** `heard` resolves after this number of pongs. */
async function open(
  { base, env }: FrameTarget,
  pongs = 1,
): Promise<{ readonly stream: RawStream; readonly heard: Promise<void> }> {
  const device = newDevice();
  const heard = Promise.withResolvers<void>();
  let count = 0;
  const token = await signToken(env, device);
  const stream = openRawStream(base, { sessionId: device.sessionId, token }, ({ opcode, payload }) => {
    if (opcode === opcodes.text && payload.toString() === '{"type":"pong"}') count += 1;
    if (count === pongs) heard.resolve();
  });
  const status = await stream.status;
  if (status !== 101) throw new Error(`the gateway answered ${status}`);
  return { stream, heard: heard.promise };
}

/** Returns true if the work succeeds in time. */
async function within(work: Promise<void>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, deadlineMs, false);
  work.then(
    () => resolve(true),
    () => resolve(false),
  );
  const isGood = await promise;
  clearTimeout(timer);
  return isGood;
}
