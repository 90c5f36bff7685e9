import { get } from 'node:http';
import { waitUntil } from '../servers/wait-until.ts';

const TIMEOUT_MS = 60_000;

/** Asks a readiness probe until it answers 200. Throws with its last answer after `timeoutMs`. */
export async function waitUntilReady(name: string, url: string, timeoutMs = TIMEOUT_MS): Promise<void> {
  let answer = 'no answer';
  const check = async () => {
    const { status, text } = await probe(url);
    answer = text;
    return status === 200;
  };
  await waitUntil(check, { what: `${name} ready`, timeoutMs }).catch((error: Error) => {
    throw new Error(`${error.message}; ${url}: ${answer}`);
  });
}

/** Without an agent, so that no connection is kept. */
async function probe(url: string): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: 2_000 }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, text }));
      response.on('error', (error) => resolve({ status: undefined, text: error.message }));
    });
    request.on('timeout', () => request.destroy(new Error('no answer within 2 s')));
    request.on('error', (error) => resolve({ status: undefined, text: error.message }));
  });
}
