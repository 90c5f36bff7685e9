import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The report of a webhook in a separate process, which counts deliveries and distinct ids for its parent process. */
export interface ReceivedCount {
  readonly port: number;
  readonly deliveries: number;
  readonly ids: number;
}

const ids = new Set<unknown>();
let deliveries = 0;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    deliveries += 1;
    ids.add(request.headers['webhook-id']);
    response.writeHead(204).end();
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  const notify = () => process.send?.({ port, deliveries, ids: ids.size } satisfies ReceivedCount);
  notify();
  setInterval(notify, 100);
});
process.once('disconnect', () => process.exit());
