import { operationNames } from '../cost/operations.ts';
import type { GrowthLevel } from '../growth/measure-growth.ts';
import type { Percentiles } from '../push/percentiles.ts';
import { costAt } from './aims.ts';
import { markdownTable, paragraphs, type Section } from './section.ts';

export function eventsSection({ count, min, p50, p99, max }: Percentiles): Section {
  return {
    heading: 'How soon an event is there',
    text: paragraphs(
      'The time from a registration’s 201 at the client to the signed webhook at the subscriber, one registration after another. Api, worker, MongoDB, Redis, client and subscriber share the machine. A time below zero means that the event came first.',
      markdownTable(
        ['registrations', 'least', 'p50', 'p99', 'most'],
        [[count, ...[min, p50, p99, max].map((ms) => `${ms} ms`)]],
      ),
    ),
  };
}

const grouped = (count: number) => count.toLocaleString('en');
const gib = (mib: number) => (mib / 1_024).toFixed(2);

export function growthSection(levels: readonly GrowthLevel[]): Section {
  return {
    heading: 'How cost grows with the store',
    text: paragraphs(
      'CPU milliseconds of api and MongoDB for one operation, by the number of users in the store. Each user has a group of their own and one live session. The operations use accounts and sessions from anywhere among those added last, and each session once. The api is one process, which runs while the store grows, and is warmed again at each size. *Store* is the size of documents and indexes in MongoDB’s cache if all of them are there. In the last row the cache is the smallest that mongod accepts, so most documents are read from the file system. The figures are CPU time, so they don’t include the time that a disk takes.',
      markdownTable(
        ['users', 'sessions', 'store, GiB', 'cache, GiB', ...operationNames, 'bare hash'],
        levels.map((level) => [
          ...[grouped(level.users), grouped(level.sessions), gib(level.storeMib), gib(level.cacheMib)],
          ...operationNames.map((operation) => costAt(level, operation).toFixed(2)),
          level.bareHashMs.toFixed(2),
        ]),
      ),
    ),
  };
}
