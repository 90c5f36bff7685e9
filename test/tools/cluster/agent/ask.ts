import { drive, type Operations } from '../../../support/api/api-driver.ts';
import { type Agent, type SentRequest, send } from '../../../support/http-client.ts';

/** One request of an agent. */
export interface Question extends Omit<SentRequest, 'path' | 'signal'> {
  readonly url: string;
  /** False to send no `X-Request-ID`. */
  readonly isNamed?: boolean;
}

export type Reply = Awaited<ReturnType<typeof ask>>;

const timeoutMs = 10_000;

/** Creates a driver of the api, over the agent's connections if one is given. */
export function apiAt(api: string, agent?: Agent): Operations<Reply> {
  return drive(({ path, ...request }) => ask({ ...request, url: api + path, agent }));
}

/**
 * Sends a request once, without retries. Rejects on any fault of the connection, and after 10 s, with the request's
 * `requestId`, by which the services' logs name it.
 */
export async function ask({ url, headers, isNamed = true, ...request }: Question) {
  const requestId = `cluster-${crypto.randomUUID()}`;
  const needed = { 'Content-Type': 'application/json', ...(isNamed ? { 'X-Request-ID': requestId } : {}) };
  const sent = { ...request, path: '', headers: { ...needed, ...headers }, signal: AbortSignal.timeout(timeoutMs) };
  const { status, json, text, ...answer } = await send(url, sent).catch((error: Error) => {
    throw Object.assign(error, { requestId });
  });
  return {
    status,
    json: json ?? text,
    /** The `X-Request-ID` of the answer. */
    requestId: answer.headers['x-request-id'] as string | undefined,
  };
}
