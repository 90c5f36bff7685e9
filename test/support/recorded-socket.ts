import type { StreamSocket } from '@auth-account/client';

/** What happened on an app's streams, in order: `open`, `sent auth`, `closed 4004`, `left`. */
export interface RecordedSockets {
  readonly WebSocket: new (url: string, protocols: string[]) => StreamSocket;
  readonly steps: string[];
  /** Streams that are connected or connecting. */
  live(): number;
  /** `pong` frames that came. */
  pongs(): number;
  /** While true, every handshake fails. */
  isRefused: boolean;
  /** Where a load balancer leads from now on: `ws://…`. */
  base: string | undefined;
  /** Ends every stream as a lost connection does. */
  cut(): void;
}

/** Node's own WebSocket, whose steps are recorded. */
export function recordSockets(): RecordedSockets {
  const steps: string[] = [];
  const live = new Set<WebSocket>();
  let pongs = 0;
  const recorded: RecordedSockets = {
    steps,
    pongs: () => pongs,
    live: () => live.size,
    isRefused: false,
    base: undefined,
    cut() {
      for (const socket of live) {
        const { onclose } = socket as unknown as StreamSocket;
        WebSocket.prototype.close.call(socket);
        live.delete(socket);
        onclose?.({ code: 1006, reason: '' });
      }
    },
    WebSocket: class extends WebSocket {
      constructor(url: string, protocols: string[]) {
        const path = new URL(url).pathname;
        const target = recorded.base === undefined ? url : `${recorded.base}${path}`;
        super(recorded.isRefused ? target.replace('/ws/push-stream/', '/ws/nowhere/') : target, protocols);
        live.add(this);
        this.addEventListener('open', () => steps.push('open'));
        this.addEventListener('message', ({ data }) => {
          if (JSON.parse(data).type === 'pong') pongs += 1;
        });
        this.addEventListener('close', ({ code }) => {
          if (live.delete(this)) steps.push(`closed ${code}`);
        });
      }
      override send(data: string): void {
        steps.push(`sent ${JSON.parse(data).type}`);
        super.send(data);
      }
      override close(code?: number): void {
        if (live.delete(this)) steps.push('left');
        super.close(code);
      }
    } as unknown as RecordedSockets['WebSocket'],
  };
  return recorded;
}
