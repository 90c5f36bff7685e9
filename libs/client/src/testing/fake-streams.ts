import { isRecord, parseJson } from '../http/exchange.ts';
import type { StreamSocket } from '../platform/platform.ts';
import { accessSeconds, type FakeRecords, sessionOfAccess } from './fake-records.ts';

/** The streams of the fake service. */
export interface FakeStreams {
  readonly WebSocket: new (url: string, protocols: string[]) => StreamSocket;
  close(session_id: string, code: number): void;
  push(home_group_id: string, topic: string, payload: unknown): void;
}

export function createFakeStreams(records: FakeRecords): FakeStreams {
  const open = new Map<string, StreamSocket>();
  const { newId, now } = records;
  const time = (seconds = 0) => new Date(now().getTime() + seconds * 1000).toISOString();
  const groupOf = (user_id: string) => records.users.get(user_id)?.home_group_id;

  class FakeSocket implements StreamSocket {
    onopen: StreamSocket['onopen'] = null;
    onmessage: StreamSocket['onmessage'] = null;
    onclose: StreamSocket['onclose'] = null;
    onerror: StreamSocket['onerror'] = null;
    readonly #id: string;

    constructor(url: string, [, token = '']: string[]) {
      this.#id = url.slice(url.lastIndexOf('/') + 1);
      void Promise.resolve().then(() => this.#begin(token));
    }

    #begin(token: string): void {
      const session = sessionOfAccess(records, token);
      if (session?.session_id !== this.#id) {
        this.#end(1006);
        return;
      }
      finish(this.#id, 4003);
      open.set(this.#id, this);
      const home_group_id = groupOf(session.user_id);
      const times = { expires_at: time(accessSeconds), timestamp: time() };
      this.#tell({ type: 'hello', session_id: this.#id, home_group_id, ...times });
    }

    #tell(frame: object): void {
      this.onmessage?.({ data: JSON.stringify(frame) });
    }

    #end(code: number): void {
      this.onclose?.({ code, reason: '' });
    }

    send(data: string): void {
      const frame = parseJson(data);
      if (!isRecord(frame)) return;
      if (frame.type === 'ping') this.#tell({ type: 'pong' });
      if (frame.type === 'auth') this.#tell({ type: 'auth_ok', expires_at: time(accessSeconds) });
    }

    close(code = 1000): void {
      if (open.get(this.#id) === this) open.delete(this.#id);
      void Promise.resolve().then(() => this.#end(code));
    }
  }

  function finish(session_id: string, code: number): void {
    const socket = open.get(session_id);
    open.delete(session_id);
    socket?.onclose?.({ code, reason: '' });
  }

  return {
    WebSocket: FakeSocket,
    close: finish,
    push(home_group_id, topic, payload) {
      for (const [session_id, socket] of open) {
        if (groupOf(records.sessions.get(session_id)?.user_id ?? '') !== home_group_id) continue;
        const frame = { type: 'message', id: newId(), topic, payload, timestamp: time() };
        socket.onmessage?.({ data: JSON.stringify(frame) });
      }
    },
  };
}
