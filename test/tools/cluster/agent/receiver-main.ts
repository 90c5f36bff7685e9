import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';

/**
 * The subscriber of the cluster test. It accepts webhooks on `/events`, signed as in Standard Webhooks with the secret
 * in the file that WEBHOOK_SECRET_FILE names. `/deliveries` returns the ids and types of all events, by user. After
 * `PUT /pace/{ms}/{status}` it takes `ms` milliseconds for each event, and refuses all if the status is not 204.
 */
const { WEBHOOK_SECRET_FILE = '', PORT = '8090' } = process.env;
const webhook = new Webhook(readFileSync(WEBHOOK_SECRET_FILE, 'utf8').trim());
const deliveries: Record<string, { readonly id: string; readonly type: string }[]> = {};
const spans = new Map<string, string[]>();
let paceMs = 0;
let status = 204;

/** Returns the event of a delivery; undefined if the signature is wrong. */
function readEvent(headers: IncomingHttpHeaders, body: string) {
  try {
    return webhook.verify(body, headers as Record<string, string>) as {
      readonly subject: string;
      readonly type: string;
    };
  } catch {
    return;
  }
}

type Attribute = { readonly key: string; readonly value: { readonly stringValue?: string } };
const textOf = (attributes: readonly Attribute[], name: string) =>
  attributes.find(({ key }) => key === name)?.value.stringValue;

/** Keeps of each span its service and what has made it: its scope, or the store that a command went to. */
function takeTraces(body: string): void {
  for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
    const service = textOf(resource.attributes, 'service.name');
    for (const { scope, spans: sent } of scopeSpans) {
      for (const { traceId, attributes } of sent) {
        const maker = textOf(attributes, 'db.system.name') ?? scope.name;
        spans.set(traceId, [...(spans.get(traceId) ?? []), `${service} ${maker}`]);
      }
    }
  }
}

async function answer(request: IncomingMessage): Promise<{ readonly status: number; readonly body?: unknown }> {
  const { url = '', method } = request;
  if (url === '/deliveries') return { status: 200, body: deliveries };
  if (method === 'PUT') {
    [paceMs = 0, status = 204] = url.replace('/pace/', '').split('/').map(Number);
    return { status: 200, body: { paceMs, status } };
  }
  if (url.startsWith('/spans/')) return { status: 200, body: spans.get(url.replace('/spans/', '')) ?? [] };
  const body = Buffer.concat(await request.toArray()).toString();
  if (url === '/v1/traces') {
    takeTraces(body);
    return { status: 200, body: {} };
  }
  const event = readEvent(request.headers, body);
  if (event === undefined) return { status: 401 };
  const { subject, type } = event;
  await sleep(paceMs);
  if (status !== 204) return { status };
  deliveries[subject] = [...(deliveries[subject] ?? []), { id: String(request.headers['webhook-id']), type }];
  return { status: 204 };
}

const server = createServer(async (request, response) => {
  const { status, body } = await answer(request);
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(body === undefined ? undefined : JSON.stringify(body));
});
server.listen(Number(PORT));
process.on('SIGTERM', () => process.exit(0));
