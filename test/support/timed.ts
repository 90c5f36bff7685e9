import type { Answer } from './http-client.ts';

/** One answer of the flooded api. */
export interface Timed {
  readonly status: number;
  readonly ms: number;
  readonly retryAfter: string | undefined;
  /** `error_code` of a 503. */
  readonly code?: string | undefined;
  /** Error code of the socket if there was no answer; the status is 0 then. */
  readonly error?: string | undefined;
}

/** Runs the request, and returns its duration and its answer. */
export async function timed(work: () => Promise<Pick<Answer, 'status' | 'headers' | 'text'>>): Promise<Timed> {
  const start = performance.now();
  const { status, headers, text } = await work();
  const code: string | undefined = status === 503 ? JSON.parse(text).error_code : undefined;
  return { status, ms: performance.now() - start, retryAfter: headers['retry-after'], code };
}
