export interface FetchOptions {
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
}

/** Longest document that is read. Ours have less than 2 KiB. */
const maximumBytes = 64 * 1_024;

/**
 * Fetches a document and returns its text: of a 200 alone, without redirections, of 64 KiB at most, within the time.
 * The error names the address and the fault.
 */
export async function fetchDocument(url: string, { fetch, timeoutMs }: FetchOptions): Promise<string> {
  try {
    const answer = await fetch(url, {
      headers: { Accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (answer.status !== 200) {
      await answer.body?.cancel();
      throw new Error(`status ${answer.status}`);
    }
    return await readText(answer);
  } catch (error) {
    throw new Error(`${url}: ${(error as Error).message}`, { cause: error });
  }
}

async function readText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > maximumBytes) throw new Error(`more than ${maximumBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
