import { connect, createServer, type Socket } from 'node:net';
import { listen } from '../listen.ts';

/** The kind of break, which is visible to both ends at once, or silent until it is repaired. */
export type Cut = 'reset' | 'silence';

/** A TCP proxy that can hold back the answers to a command, drop an answer, cut connections, or go silent. */
export type HoldingProxy = Awaited<ReturnType<typeof startHoldingProxy>>;

interface Lane {
  readonly client: Socket;
  readonly server: Socket;
  readonly kept: Buffer[];
  /** The client's first bytes, by which it is recognised. */
  introduction: string;
  isHeld?: boolean;
  isDropping?: boolean;
  isFrozen?: boolean;
}

/** The connections, and what happens to them. */
interface State {
  readonly lanes: Set<Lane>;
  command?: string | undefined;
  unanswered?: string | undefined;
  dropped: number;
  cut?: { readonly how: Cut; readonly clients: readonly string[] } | undefined;
}

function end({ lanes }: State, lane: Lane): void {
  lanes.delete(lane);
  lane.client.destroy();
  lane.server.destroy();
}

/** Breaks the connection if it is one that is cut, and then returns true. */
function breakUp(state: State, lane: Lane): boolean {
  const { cut } = state;
  if (cut === undefined) return false;
  const isCut = cut.clients.length === 0 || cut.clients.some((text) => lane.introduction.includes(text));
  if (isCut && cut.how === 'reset') end(state, lane);
  else if (isCut) for (const socket of [lane.client, lane.server]) socket.pause();
  return isCut;
}

/** Returns true if the client's first bytes show that it is cut off. They are read again after the repair. */
function isRefused(state: State, lane: Lane, chunk: Buffer): boolean {
  if (lane.introduction !== '') return false;
  lane.introduction = chunk.toString('latin1');
  if (!breakUp(state, lane)) return false;
  if (!lane.client.destroyed) lane.client.unshift(chunk);
  return true;
}

function pass(state: State, lane: Lane, chunk: Buffer): void {
  if (lane.isFrozen || isRefused(state, lane, chunk)) return;
  const { command, unanswered } = state;
  if (command !== undefined && chunk.toString('latin1').toLowerCase().includes(command)) lane.isHeld = true;
  if (unanswered !== undefined && chunk.includes(unanswered)) {
    state.unanswered = undefined;
    lane.isDropping = true;
  }
  lane.server.write(chunk);
}

function passBack(state: State, lane: Lane, chunk: Buffer): void {
  if (lane.isDropping) {
    state.dropped += 1;
    end(state, lane);
  } else if (lane.isHeld && !lane.isFrozen) lane.kept.push(chunk);
  else if (!lane.isFrozen) lane.client.write(chunk);
}

/** Listens on a free port of loopback, and forwards connections to the port `target` of loopback. */
export async function startHoldingProxy(target: number) {
  const lanes = new Set<Lane>();
  const state: State = { lanes, dropped: 0 };
  const server = createServer((client) => {
    if (state.cut?.how === 'reset' && state.cut.clients.length === 0) return void client.destroy();
    const lane: Lane = { client, server: connect(target, '127.0.0.1'), kept: [], introduction: '' };
    lanes.add(lane);
    client.on('data', (chunk) => pass(state, lane, chunk));
    lane.server.on('data', (chunk) => passBack(state, lane, chunk));
    for (const socket of [client, lane.server]) {
      socket.setNoDelay();
      socket.on('error', () => undefined); // its close event follows
      // If a host has vanished, its peer does not hear of the end.
      socket.on('close', () => lane.isFrozen || end(state, lane));
    }
  });
  const { port, close } = await listen(server);
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    /** Holds back, until `release`, all answers on each connection on which this command is sent from now on. */
    hold(name: string) {
      state.command = name.toLowerCase();
    },
    /** Returns the number of connections that are held. */
    held: () => [...lanes].filter(({ isHeld }) => isHeld).length,
    release() {
      state.command = undefined;
      for (const lane of lanes) {
        lane.isHeld = false;
        for (const chunk of lane.kept.splice(0)) lane.client.write(chunk);
      }
    },
    /** Passes on the next request that contains the text, and breaks the connection instead of sending the reply. */
    dropReplyTo(text: string) {
      state.unanswered = text;
    },
    /** Returns the number of replies that have been dropped. */
    dropped: () => state.dropped,
    /**
     * Breaks existing and new connections (default: by a reset), all of them or only those whose first bytes contain one
     * of the texts.
     */
    cut(how: Cut = 'reset', clients: readonly string[] = []) {
      state.cut = { how, clients };
      for (const lane of lanes) breakUp(state, lane);
    },
    /** Ends the cut. New connections work again, and data that were held back are passed on. */
    fix() {
      state.cut = undefined;
      for (const socket of [...lanes].flatMap((lane) => [lane.client, lane.server])) socket.resume();
    },
    /** Lets nothing pass on the present connections, as if their host had vanished. New connections work. */
    freeze() {
      for (const lane of lanes) lane.isFrozen = true;
    },
    async close() {
      for (const lane of lanes) end(state, lane);
      await close();
    },
  };
}
