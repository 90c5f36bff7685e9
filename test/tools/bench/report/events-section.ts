import type { Percentiles } from '../push/percentiles.ts';
import { markdownTable } from './markdown-table.ts';
import { paragraphs, type Section } from './section.ts';

export function eventsSection({ count, min, p50, p99, max }: Percentiles): Section {
  return {
    heading: 'How soon an event is there',
    text: paragraphs(
      'From the 201 of a registration, as its client has it, to the signed webhook at the subscriber, one registration after another. Api, worker, MongoDB, Redis, client and subscriber share the machine; below zero the event was there first.',
      markdownTable(
        ['registrations', 'least', 'p50', 'p99', 'most'],
        [[count, ...[min, p50, p99, max].map((ms) => `${ms} ms`)]],
      ),
    ),
    plots: {},
  };
}
