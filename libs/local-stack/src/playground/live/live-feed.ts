import type { ServerResponse } from 'node:http';
import type { LiveMessage } from './step.ts';

/** Server-sent events to every page that is open. */
export interface LiveFeed {
  follow(res: ServerResponse): void;
  tell(message: LiveMessage): void;
}

/** Bytes that wait for one page. */
const longestQueue = 4_194_304;

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
      const line = `data: ${JSON.stringify(message)}\n\n`;
      for (const reader of readers) {
        // A page that does not read any more; one that still lives opens the feed again.
        if (reader.writableLength > longestQueue) reader.destroy();
        else reader.write(line);
      }
    },
  };
}
