import { publish, type RedisClient, type RedisKeys } from '@auth-account/redis';
import { encodeCommand, type GatewayCommand } from './commands.ts';

/** Publishes commands to all gateways: a hint, which may be lost, doubled or late. */
export function createCommandPublisher(
  redis: RedisClient,
  keys: RedisKeys,
): (command: GatewayCommand) => Promise<void> {
  return (command) => publish(redis, keys.commands, encodeCommand(command));
}
