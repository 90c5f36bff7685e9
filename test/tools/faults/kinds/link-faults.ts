import type { Cut, HoldingProxy } from '../../../support/stores/holding-proxy.ts';
import { anyOf } from '../load/app.ts';
import type { FaultStack } from '../stack/start-fault-stack.ts';
import type { SubscriberMood } from '../stack/subscribers.ts';
import { type FaultKind, primaryOf } from './fault.ts';

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
    const member = await primaryOf(stack);
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
