import type { Denial, DenyList } from '@auth-account/messaging/deny-list';
import { createTickBatcher } from '../streams/batch-per-tick.ts';

/** Redis's answers about a stream that is to be opened. */
export interface RedisAnswer {
  readonly denial: Denial | undefined;
  /** Of two streams of one session, the stream with the higher number stays. */
  readonly streamNumber: number;
}

export interface AskRedisDeps {
  readonly denyList: Pick<DenyList, 'find'>;
  /** Takes `count` consecutive numbers and returns the first. */
  readonly takeStreamNumbers: (count: number) => Promise<number>;
}

/**
 * Limit for the sessions in one request. A turn of the event loop with more sessions is long, and without the limit the
 * first session would wait for its end. With Sentinel and clusters the request is a Lua script, which takes 8,000 keys
 * at most.
 */
const maxTogether = 256;

interface Question {
  readonly sessionId: string;
  readonly resolve: (answer: RedisAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Asks Redis for a handshake's denial and stream number. Up to 256 handshakes of one turn of the event loop share a
 * round trip, because in a storm of reconnects, commands to Redis took a quarter of a handshake's CPU time
 * (docs/performance.md). The answer is never older than the question. Rejects if the deny list doesn't answer for each
 * session, because a missing answer would mean "not denied".
 */
export function createAskRedis({
  denyList,
  takeStreamNumbers,
}: AskRedisDeps): (sessionId: string) => Promise<RedisAnswer> {
  async function ask(questions: readonly Question[]): Promise<void> {
    try {
      const sessionIds = questions.map(({ sessionId }) => sessionId);
      const [denials, first] = await Promise.all([denyList.find(sessionIds), takeStreamNumbers(questions.length)]);
      if (denials.length !== questions.length) {
        throw new Error(`the deny list answered for ${denials.length} of ${questions.length} sessions`);
      }
      for (const [place, { resolve }] of questions.entries()) {
        resolve({ denial: denials[place], streamNumber: first + place });
      }
    } catch (error) {
      for (const { reject } of questions) reject(error);
    }
  }

  const askTogether = createTickBatcher<Question>(maxTogether, (questions) => void ask(questions));
  return (sessionId) => {
    const { promise, resolve, reject } = Promise.withResolvers<RedisAnswer>();
    askTogether({ sessionId, resolve, reject });
    return promise;
  };
}
