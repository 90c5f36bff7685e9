import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceName } from '@auth-account/local-stack';
import type { Cut, HoldingProxy } from '../../../support/stores/holding-proxy.ts';
import { anyOf } from '../load/app.ts';
import { onMember } from '../stack/replica-set.ts';
import type { FaultStack } from '../stack/start-fault-stack.ts';
import type { SubscriberMood } from '../stack/subscribers.ts';
import type { FaultKind } from './fault.ts';

const instancesOf = (service: ServiceName, { services }: FaultStack) =>
  services.filter((each) => each.service === service);

/** Kills a process, which its supervisor restarts. */
const killService = (service: ServiceName): FaultKind => ({
  name: `kill -9 of a process of the ${service}`,
  holdMs: [0, 1_000],
  async inject(stack, random) {
    const { name, process } = anyOf(random, instancesOf(service, stack));
    process.kill('SIGKILL');
    return { detail: name };
  },
});

/**
 * Seconds by which the clock jumps. They are fewer than a token's lifetime, because the api could not hide a longer
 * jump from the apps.
 */
const jumps = [-60, -20, -5, 5, 20, 60];

/** Only erasures delete from these collections. */
const erasedFrom = ['sessions', 'challenges', 'idempotency'] as const;

/** Milliseconds for which a step of an erasure is held back, and for which such a step is awaited. */
const stepMs = 4_000;
const patienceMs = 15_000;
const lookMs = 150;

/** Returns true when a worker has held the same account at two looks, so that a step of the erasure is held back. */
async function awaitErasure({ collections: { users } }: FaultStack): Promise<boolean> {
  let lease: string | undefined;
  for (const from = performance.now(); performance.now() - from < patienceMs; await sleep(lookMs)) {
    const held = await users.findOne({ 'erasure.until': { $gt: new Date() } }, { projection: { erasure: 1 } });
    if (held?.erasure !== undefined && held.erasure.lease === lease) return true;
    lease = held?.erasure?.lease;
  }
  return false;
}

const killErasing: FaultKind = {
  name: 'kill -9 of the workers in the midst of an erasure',
  holdMs: [0, 1_000],
  async inject(stack, random) {
    const { namespace } = stack.collections[anyOf(random, erasedFrom)];
    const { mongo, findPrimary } = stack.replicaSet;
    const data = { failCommands: ['delete'], namespace, blockConnection: true, blockTimeMS: stepMs };
    const failPoint = { configureFailPoint: 'failCommand' };
    return onMember(mongo.ports[await findPrimary()], async (admin) => {
      await admin.command({ ...failPoint, mode: 'alwaysOn', data });
      const isErasing = await awaitErasure(stack);
      for (const { process } of instancesOf('worker', stack)) process.kill('SIGKILL');
      await admin.command({ ...failPoint, mode: 'off' });
      return { detail: isErasing ? `at ${namespace}` : 'none was under way' };
    });
  },
};

export const serviceFaults: readonly FaultKind[] = [
  ...(['api', 'push-gateway', 'worker'] as const).map(killService),
  {
    name: 'kill -9 of every process of the services',
    holdMs: [0, 1_000],
    async inject({ services }) {
      for (const { process } of services) process.kill('SIGKILL');
      return { detail: '' };
    },
  },
  {
    name: 'clock of one process of each service jumps',
    holdMs: [4_000, 10_000],
    findObstacle: ({ clock }) => (clock === undefined ? 'needs libfaketime' : undefined),
    async inject({ clock }, random) {
      const seconds = anyOf(random, jumps);
      await clock?.move(seconds);
      return { detail: `${seconds} s`, fix: () => clock?.move(0) };
    },
  },
  killErasing,
  {
    // It may last longer than the lease of an account, so that another worker erases the account.
    name: 'SIGSTOP of a worker',
    holdMs: [5_000, 75_000],
    async inject(stack, random) {
      const { name, process } = anyOf(random, instancesOf('worker', stack));
      process.kill('SIGSTOP');
      return { detail: name, fix: () => process.kill('SIGCONT') };
    },
  },
];

/** Connections that break together. */
interface Link {
  readonly name: string;
  readonly proxies: readonly HoldingProxy[];
  /** The clients that are cut off (default: all). */
  readonly clients?: readonly string[];
}

type Choose = (stack: FaultStack, random: () => number) => Link | Promise<Link>;

const cuts: readonly Cut[] = ['reset', 'silence'];

const cutLink = (name: string, holdMs: FaultKind['holdMs'], choose: Choose): FaultKind => ({
  name,
  holdMs,
  async inject(stack, random) {
    const link = await choose(stack, random);
    const how = anyOf(random, cuts);
    for (const proxy of link.proxies) proxy.cut(how, link.clients);
    const fix = () => {
      for (const proxy of link.proxies) proxy.fix();
    };
    return { detail: `${link.name}, ${how}`, fix };
  },
});

const moods: readonly SubscriberMood[] = ['slow', 'hang', 'fail'];

export const linkFaults: readonly FaultKind[] = [
  cutLink('MongoDB primary out of reach', [5_000, 12_000], async (stack) => {
    const member = await stack.replicaSet.findPrimary();
    return { name: `member ${member}`, proxies: stack.replicaSet.proxies.filter((_, index) => index === member) };
  }),
  cutLink('a process cut off from MongoDB', [1_000, 8_000], ({ services, replicaSet }, random) => {
    const users = services.filter(({ service }) => service !== 'push-gateway');
    const { name } = anyOf(random, users);
    return { name, proxies: replicaSet.proxies, clients: [name] };
  }),
  cutLink('a process cut off from Redis', [1_000, 8_000], ({ services }, random) => {
    const { name, redisProxy } = anyOf(random, services);
    return { name, proxies: [redisProxy] };
  }),
  cutLink('apps cut off from a process', [200, 4_000], ({ services }, random) => {
    const fronts = services.flatMap(({ name, front }) => (front === undefined ? [] : [{ name, proxies: [front] }]));
    return anyOf(random, fronts);
  }),
  {
    name: 'a subscriber slow, hanging or failing',
    holdMs: [3_000, 10_000],
    async inject({ subscribers }, random) {
      const [subscriber, mood] = [anyOf(random, subscribers), anyOf(random, moods)];
      subscriber.setMood(mood);
      return { detail: `${subscriber.name}, ${mood}`, fix: () => subscriber.setMood('good') };
    },
  },
  cutLink('the mail server out of reach', [3_000, 10_000], ({ mailServer }) => ({
    name: 'SMTP',
    proxies: [mailServer.proxy],
  })),
];
