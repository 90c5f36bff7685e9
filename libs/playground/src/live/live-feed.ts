import type { ServerResponse } from 'node:http';
import type { LiveMessage } from './step.ts';

/** Sends server-sent events to every open page. */
export interface LiveFeed {
  follow(res: ServerResponse): void;
  notify(message: LiveMessage): void;
}

/** Limit for the data that wait for one page, in bytes. */
const maxQueue = 4_194_304;

export function createLiveFeed(): LiveFeed {
  const readers = new Set<ServerResponse>();
  return {
    follow(res) {
      res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      // Some bytes are sent at once, because a browser does not report the feed as open before it gets any.
      res.write(': from now on\n\n');
      readers.add(res);
      res.once('close', () => readers.delete(res));
    },
    notify(message) {
      const line = `data: ${JSON.stringify(message)}\n\n`;
      for (const reader of readers) {
        // The page has stopped reading. If it is still alive, it opens the feed again.
        if (reader.writableLength > maxQueue) reader.destroy();
        else reader.write(line);
      }
    },
  };
}
