import { anyOf } from '../load/app.ts';
import type { SubscriberMood } from '../stack/webhook-subscriber.ts';
import type { FaultKind } from './fault.ts';

const signInMethods = ['reset', 'silence'] as const;

const cutMongo: FaultKind = {
  name: 'a process cut off from MongoDB',
  isKill: false,
  holdMs: [1_000, 8_000],
  async inject({ services, replicaSet }, random) {
    const users = services.filter(({ service }) => service !== 'push-gateway');
    const [{ name }, how] = [anyOf(random, users), anyOf(random, signInMethods)];
    for (const proxy of replicaSet.proxies) proxy.cut(how, [name]);
    return {
      detail: `${name}, ${how}`,
      async fix() {
        for (const proxy of replicaSet.proxies) proxy.fix();
      },
    };
  },
};

const cutRedis: FaultKind = {
  name: 'a process cut off from Redis',
  isKill: false,
  holdMs: [1_000, 8_000],
  async inject({ services }, random) {
    const [{ name, redisProxy }, how] = [anyOf(random, services), anyOf(random, signInMethods)];
    redisProxy.cut(how);
    return { detail: `${name}, ${how}`, fix: async () => redisProxy.fix() };
  },
};

const cutApps: FaultKind = {
  name: 'apps cut off from a process',
  isKill: false,
  holdMs: [200, 4_000],
  async inject({ services }, random) {
    const fronts = services.filter(({ front }) => front !== undefined);
    const [{ name, front }, how] = [anyOf(random, fronts), anyOf(random, signInMethods)];
    front?.cut(how);
    return { detail: `${name}, ${how}`, fix: async () => front?.fix() };
  },
};

const moods: readonly SubscriberMood[] = ['slow', 'hang', 'fail'];

const slowSubscriber: FaultKind = {
  name: 'a subscriber slow, hanging or failing',
  isKill: false,
  holdMs: [3_000, 10_000],
  async inject({ subscribers }, random) {
    const [subscriber, mood] = [anyOf(random, subscribers), anyOf(random, moods)];
    subscriber.setMood(mood);
    return { detail: `${subscriber.name}, ${mood}`, fix: async () => subscriber.setMood('good') };
  },
};

const cutMail: FaultKind = {
  name: 'the mail server out of reach',
  isKill: false,
  holdMs: [3_000, 10_000],
  async inject({ mailServer }, random) {
    const how = anyOf(random, signInMethods);
    mailServer.cut(how);
    return { detail: how, fix: async () => mailServer.fix() };
  },
};

export const linkFaults: readonly FaultKind[] = [cutMongo, cutRedis, cutApps, slowSubscriber, cutMail];
