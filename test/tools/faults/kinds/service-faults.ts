import type { ServiceName } from '@auth-account/local-stack';
import { anyOf } from '../load/app.ts';
import type { FaultKind } from './fault.ts';

const names = ['api', 'push-gateway', 'worker'] as const satisfies readonly ServiceName[];

const killService = (service: ServiceName): FaultKind => ({
  name: `kill -9 of a process of the ${service}`,
  isKill: true,
  holdMs: [0, 1_000],
  async inject({ services }, random) {
    const instance = anyOf(
      random,
      services.filter((each) => each.service === service),
    );
    instance.process.kill('SIGKILL');
    // The process's supervisor restarts it.
    return { detail: instance.name, fix: async () => undefined };
  },
});

const killAll: FaultKind = {
  name: 'kill -9 of every process of the services',
  isKill: true,
  holdMs: [0, 1_000],
  async inject({ services }) {
    for (const { process } of services) process.kill('SIGKILL');
    return { detail: '', fix: async () => undefined };
  },
};

/**
 * Seconds by which the clock jumps. They are fewer than a token's lifetime, because the api could not hide a longer
 * jump from the apps.
 */
const jumps = [-60, -20, -5, 5, 20, 60];

const timeJump: FaultKind = {
  name: 'clock of one process of each service jumps',
  isKill: false,
  holdMs: [4_000, 10_000],
  findObstacle: ({ clock }) => (clock === undefined ? 'needs libfaketime' : undefined),
  async inject({ clock }, random) {
    const seconds = anyOf(random, jumps);
    await clock?.move(seconds);
    return { detail: `${seconds} s`, fix: async () => clock?.move(0) };
  },
};

export const serviceFaults: readonly FaultKind[] = [...names.map(killService), killAll, timeJump];
