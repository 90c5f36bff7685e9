import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AuthEvent } from '@auth-account/contracts/events';
import { begin } from '../../support/http-client.ts';
import { type Arrival, apiUrl as api, type DemoStack, pollArrivals } from './demo-stack.ts';

const { LOCAL_SUBSCRIBER_PORT = '8090' } = process.env;
const subscriber = `http://127.0.0.1:${LOCAL_SUBSCRIBER_PORT}`;

/** Follows the running stack, whose own subscribers show the events and mails that they receive. */
export async function followRunning(): Promise<DemoStack> {
  console.log(`A stack runs on ${api}: the story runs against it.`);
  const abort = new AbortController();
  const arrivals: Arrival[] = [];
  const request = begin(subscriber, { path: '/events', signal: abort.signal });
  const [response] = (await once(request.end(), 'response')) as [IncomingMessage];
  const reading = readEvents(response, (event) => arrivals.push({ event, at: performance.now() })).catch((error) => {
    if (!abort.signal.aborted) throw error;
  });
  return {
    api,
    async waitForEvent(userId) {
      const found = await pollArrivals(arrivals, userId);
      return { ...found, where: `the stack's own subscriber (${subscriber}/events)` };
    },
    async close() {
      abort.abort();
      await reading;
    },
  };
}

async function readEvents(body: IncomingMessage, onEvent: (event: AuthEvent) => void): Promise<void> {
  let text = '';
  for await (const chunk of body.setEncoding('utf8')) {
    const parts = (text + chunk).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (data !== undefined) onEvent(JSON.parse(data) as AuthEvent);
    }
  }
}
