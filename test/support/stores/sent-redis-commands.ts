import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** A command that a client of this process has sent to Redis. */
export interface SentRedisCommand {
  /** In lower case. */
  readonly name: string;
  readonly args: readonly string[];
}

/**
 * Runs the work with a list that grows by each command that this process sends to Redis. Commands that scripts run in
 * Redis are not sent, so not listed.
 */
export async function withSentRedisCommands<T>(work: (sent: readonly SentRedisCommand[]) => Promise<T>): Promise<T> {
  const sent: SentRedisCommand[] = [];
  const keep = (message: unknown) => {
    const { command, args } = message as { command: string; args: readonly unknown[] };
    sent.push({ name: command.toLowerCase(), args: args.map(String) });
  };
  // ioredis announces each command as it is sent, with its keys and without secrets.
  const channel = 'tracing:ioredis:command:start';
  subscribe(channel, keep);
  return work(sent).finally(() => unsubscribe(channel, keep));
}
