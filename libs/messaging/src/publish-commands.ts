import { encodeCommand, type GatewayCommand } from './commands.ts';
import { publish, type RedisClient } from './redis-client.ts';
import type { RedisKeys } from './redis-keys.ts';

/** Publishes commands to all gateways: a hint, which may be lost, doubled or late. */
export function createCommandPublisher(
  redis: RedisClient,
  keys: RedisKeys,
): (command: GatewayCommand) => Promise<void> {
  return (command) => publish(redis, keys.commands, encodeCommand(command));
}
