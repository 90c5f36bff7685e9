import type { Channel, Locks } from '@auth-account/client';

/** Locks and a channel that the tabs of one page share, as a browser gives them. */
export interface SharedTabs {
  readonly locks: Locks;
  readonly openChannel: (name: string) => Channel;
}

export function createSharedTabs(): SharedTabs {
  const queues = new Map<string, Promise<unknown>>();
  const channels = new Set<Channel>();
  return {
    locks: {
      request(name, { signal }, work) {
        const before = queues.get(name) ?? Promise.resolve();
        const aborted = new Promise<never>((_, reject) =>
          signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError'))),
        );
        let hasBegun = false;
        const run = before.then(() => {
          if (signal?.aborted) throw new DOMException('aborted', 'AbortError');
          hasBegun = true;
          return work();
        });
        queues.set(
          name,
          run.catch(() => undefined),
        );
        aborted.catch(() => undefined);
        return Promise.race([run, aborted.catch((error) => (hasBegun ? run : Promise.reject(error)))]);
      },
    },
    openChannel() {
      const own: Channel = {
        onmessage: null,
        postMessage(data) {
          const copy = structuredClone(data);
          for (const other of channels) if (other !== own) setTimeout(() => other.onmessage?.({ data: copy }), 0);
        },
        close: () => channels.delete(own),
      };
      channels.add(own);
      return own;
    },
  };
}
