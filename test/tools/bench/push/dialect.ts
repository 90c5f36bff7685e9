/** A session to open, with what an app has after its login. */
export interface BenchSession {
  readonly sessionId: string;
  readonly token: string;
  /** `home_group_id` of the session. */
  readonly groupId: string;
}

/** Meaning of a server's text for the client; `reply` is sent back. */
type Meaning = 'ready' | 'message' | 'nothing' | { readonly reply: string };

/** Protocol of one kind of server, on top of WebSocket. */
export interface Dialect {
  path(session: BenchSession): string;
  headers(session: BenchSession): Readonly<Record<string, string>>;
  meaningOf(text: string, session: BenchSession): Meaning;
  /** Returns an app's first message after the handshake. */
  readonly first?: (session: BenchSession) => string;
}

const bearer = ({ token }: BenchSession) => ({ Authorization: `Bearer ${token}` });

/** Protocol of the push gateway, and of the peer on ws. */
const plain: Dialect = {
  path: ({ sessionId }) => `/ws/push-stream/${sessionId}`,
  headers: bearer,
  meaningOf(text) {
    if (text.startsWith('{"type":"hello"')) return 'ready';
    return text.startsWith('{"type":"message"') ? 'message' : 'nothing';
  },
};

/** Engine.IO 4 and Socket.IO 5: `0` open, `2` ping, `40` connect to the namespace, `42` event. */
const socketIo: Dialect = {
  path: () => '/socket.io/?EIO=4&transport=websocket',
  headers: bearer,
  meaningOf(text) {
    if (text.startsWith('0')) return { reply: '40' };
    if (text === '2') return { reply: '3' };
    if (text.startsWith('42["hello"')) return 'ready';
    return text.startsWith('42["message"') ? 'message' : 'nothing';
  },
};

/** Centrifugo's JSON protocol. The client connects, subscribes to the group, and answers the server's empty pings. */
const centrifugo: Dialect = {
  path: () => '/connection/websocket',
  headers: () => ({}),
  first: ({ token }) => JSON.stringify({ id: 1, connect: { token } }),
  meaningOf(text, { groupId }) {
    if (text.startsWith('{}')) return { reply: '{}' };
    if (text.startsWith('{"id":1,"connect"')) {
      return { reply: JSON.stringify({ id: 2, subscribe: { channel: `group.${groupId}` } }) };
    }
    if (text.startsWith('{"id":2,"subscribe"')) return 'ready';
    return text.startsWith('{"push"') ? 'message' : 'nothing';
  },
};

export const dialects: Readonly<Record<DialectName, Dialect>> = { plain, 'socket.io': socketIo, centrifugo };
export type DialectName = 'plain' | 'socket.io' | 'centrifugo';
