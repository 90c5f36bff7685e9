import type { ServerResponse } from 'node:http';
import type { LiveMessage } from './step.ts';

/** Server-sent events to every page that is open. */
export interface LiveFeed {
  follow(res: ServerResponse): void;
  tell(message: LiveMessage): void;
}

export function createLiveFeed(): LiveFeed {
  const readers = new Set<ServerResponse>();
  return {
    follow(res) {
      res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      // Bytes at once: a browser calls the feed open when it has the first.
      res.write(': from now on\n\n');
      readers.add(res);
      res.once('close', () => readers.delete(res));
    },
    tell(message) {
      for (const reader of readers) reader.write(`data: ${JSON.stringify(message)}\n\n`);
    },
  };
}
