import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A message to a commander's process. */
export interface CommanderOrder {
  readonly id: number;
  /** The session to close. */
  readonly close?: string;
  /** The group to write to. */
  readonly broadcast?: string;
  readonly payload?: unknown;
}

interface CommanderAnswer {
  readonly id: number;
  /** The time at which the order's execution began, by `monotonicNow`. */
  readonly at: number;
  readonly error?: string;
}

/** A process that publishes commands and messages over Redis, as another service would. */
export interface Commander {
  /** Sends the command that closes a session, and returns the time of sending. */
  close(sessionId: string): Promise<number>;
  broadcast(groupId: string, payload: unknown): Promise<number>;
  end(): Promise<void>;
}

export async function startCommander(main: string, env: NodeJS.ProcessEnv): Promise<Commander> {
  const child = fork(main, { env });
  const exited = once(child, 'exit');
  const waiting = new Map<number, PromiseWithResolvers<number>>();
  let last = 0;
  await once(child, 'message');
  child.on('message', ({ id, at, error }: CommanderAnswer) => {
    if (error === undefined) waiting.get(id)?.resolve(at);
    else waiting.get(id)?.reject(new Error(error));
    waiting.delete(id);
  });
  function order(what: Omit<CommanderOrder, 'id'>): Promise<number> {
    last += 1;
    const answer = Promise.withResolvers<number>();
    waiting.set(last, answer);
    child.send({ id: last, ...what });
    return answer.promise;
  }
  return {
    close: (sessionId) => order({ close: sessionId }),
    broadcast: (groupId, payload) => order({ broadcast: groupId, payload }),
    async end() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
