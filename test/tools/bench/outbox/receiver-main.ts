import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerCalls } from '../../process-calls/answer-calls.ts';

/** A webhook in a separate process, which counts deliveries and distinct ids. */
const ids = new Set<unknown>();
let deliveries = 0;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    deliveries += 1;
    ids.add(request.headers['webhook-id']);
    response.writeHead(204).end();
  });
});

const calls = {
  /** Returns the port. */
  async listen(): Promise<number> {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  },
  count: () => ({ deliveries, ids: ids.size }),
};

export type ReceiverCalls = typeof calls;
answerCalls(calls);
