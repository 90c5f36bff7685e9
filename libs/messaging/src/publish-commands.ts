import type { Redis } from 'ioredis';
import { encodeCommand, type GatewayCommand } from './commands.ts';
import type { RedisKeys } from './redis-keys.ts';

/** Publishes commands to all gateways: a hint, which may be lost, doubled or late. */
export function createCommandPublisher(redis: Redis, keys: RedisKeys): (command: GatewayCommand) => Promise<void> {
  return async (command) => {
    await redis.publish(keys.commands, encodeCommand(command));
  };
}
