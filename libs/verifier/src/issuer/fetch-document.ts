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
 * the time. The error has the address and the fault, and nothing that was sent.
 */
export async function fetchDocument(url: string, options: FetchOptions): Promise<string> {
  const { fetch, timeoutMs, maximumBytes = defaultBytes, body, headers } = options;
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  try {
    const answer = await fetch(url, {
      ...sent,
      headers: { Accept: 'application/json', ...type, ...headers },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (answer.status !== 200) {
      await answer.body?.cancel();
      throw new Error(`status ${answer.status}`);
    }
    return await readText(answer, maximumBytes);
  } catch (error) {
    throw new Error(`${url}: ${(error as Error).message}`, { cause: error });
  }
}

async function readText(answer: Response, maximumBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > maximumBytes) throw new Error(`more than ${maximumBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
