import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

export interface FetchOptions {
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
  /** Limit for the document, in bytes. It is 64 KiB if absent. */
  readonly maximumBytes?: number;
  /** Body of a POST, sent as JSON. Without a body, a GET is sent. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The default limit, in bytes. The metadata and the keys have less than 2 KiB. */
const defaultBytes = 64 * 1_024;

/**
 * Fetches a document and returns its text. It accepts only status 200, follows no redirect, and limits the length and
 * the time. The error has the URL and the fault, and nothing that was sent.
 */
export async function fetchDocument(url: string, options: FetchOptions): Promise<string> {
  const { fetch, timeoutMs, maximumBytes = defaultBytes, body, headers } = options;
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await fetch(url, {
      ...sent,
      headers: { Accept: 'application/json', ...type, ...headers },
      redirect: 'error',
      signal,
    });
    if (answer.status !== 200) {
      await answer.body?.cancel();
      throw new Error(`status ${answer.status}`);
    }
    return await readText(answer, { maximumBytes, signal });
  } catch (error) {
    throw new Error(`${url}: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Returns the text of an answer. Throws if it is longer, or if the signal comes first. The signal that `fetch` was given
 * does not end the reading once Node has collected the request as garbage (https://github.com/nodejs/undici/issues/4068).
 */
export async function readText(
  { body }: Response,
  { maximumBytes, signal }: { readonly maximumBytes: number; readonly signal: AbortSignal },
): Promise<string> {
  if (body === null) return '';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of Readable.fromWeb(body as ReadableStream<Uint8Array>, { signal })) {
    bytes += chunk.length;
    if (bytes > maximumBytes) throw new Error(`more than ${maximumBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
