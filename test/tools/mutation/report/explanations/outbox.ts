import type { Explanation } from '../explain.ts';

export const outbox: readonly Explanation[] = [
  {
    file: 'libs/stores/src/outbox-leases.ts',
    why: 'Of a row that somebody else has taken the question by its lease finds nothing: it is spared.',
    mutants: [['if (taken.modifiedCount === 0) return [];', 'taken.modifiedCount === 0', 'false']],
  },
  {
    file: 'libs/stores/src/outbox-leases.ts',
    why: 'How often it looks again where others are quicker each time: that cannot be arranged with a real MongoDB.',
    mutants: [
      ['for (let tries = 0; tries < claimTries; tries++) {', 'tries < claimTries', 'tries <= claimTries'],
      ['for (let tries = 0; tries < claimTries; tries++) {', 'tries++', 'tries--'],
      ['return [];', '[]', '["Stryker was here"]'],
    ],
  },
  {
    file: 'libs/stores/src/outbox-leases.ts',
    why: 'It spares MongoDB the rest of the document; nobody looks at that.',
    mutants: [
      [
        'const oldest = outbox.find(isFree, { projection: { _id: 1 } }).sort({ locked_until: 1 });',
        '{ projection: { _id: 1 } }',
        '{}',
      ],
      ['const oldest = outbox.find(isFree, { projection: { _id: 1 } }).sort({ locked_until: 1 });', '{ _id: 1 }', '{}'],
      [
        'const held = outbox.find(isFree, { projection: { _id: 1 } }).limit(options.limit);',
        '{ projection: { _id: 1 } }',
        '{}',
      ],
      ['const held = outbox.find(isFree, { projection: { _id: 1 } }).limit(options.limit);', '{ _id: 1 }', '{}'],
      [
        'const longest = outbox.find(isLeased, { projection: { locked_until: 1 } }).sort({ locked_…',
        '{ projection: { locked_until: 1 } }',
        '{}',
      ],
      [
        'const longest = outbox.find(isLeased, { projection: { locked_until: 1 } }).sort({ locked_…',
        '{ locked_until: 1 }',
        '{}',
      ],
    ],
  },
  {
    file: 'libs/stores/src/outbox-leases.ts',
    why: 'Among no ids nothing is found: the question is spared.',
    mutants: [
      ['if (ids.length === 0) return [];', 'ids.length === 0', 'false'],
      ['return ids.length === 0 ? [] : take(options, ids, isFree);', 'ids.length === 0', 'false'],
    ],
  },
  {
    file: 'libs/stores/src/outbox-leases.ts',
    why: 'Among no subscribers nothing is found: half of the question is spared.',
    mutants: [
      ['const isFree = { $or: opened.length === 0 ? [isOld] : [isOpen, isOld] };', 'opened.length === 0', 'false'],
    ],
  },
  {
    file: 'libs/stores/src/outbox-leases.ts',
    why: 'Any text will do that is no lease.',
    mutants: [
      [
        "const filter = { _id: row._id, state: 'pending' as const, lease: row.lease ?? '' };",
        "''",
        '"Stryker was here!"',
      ],
    ],
  },
  {
    file: 'libs/stores/src/outbox-leases.ts',
    why: 'In order, the writes of a batch end with the first one that fails. None of these does but with MongoDB itself; the relay looks at the rows again.',
    mutants: [
      ['await outbox.bulkWrite(operations, { ordered: false });', '{ ordered: false }', '{}'],
      ['await outbox.bulkWrite(operations, { ordered: false });', 'false', 'true'],
    ],
  },
  {
    file: 'libs/stores/src/outbox-store.ts',
    why: 'In order, the writes of a batch end with the first one that fails. None of these does but with MongoDB itself; the relay looks at the rows again.',
    mutants: [
      ['await outbox.bulkWrite(operations, { ordered: false });', '{ ordered: false }', '{}'],
      ['await outbox.bulkWrite(operations, { ordered: false });', 'false', 'true'],
    ],
  },
  {
    file: 'libs/stores/src/outbox-store.ts',
    why: 'The document has a field more, which nobody reads.',
    mutants: [
      [
        "outbox.findOne({ state: 'pending' }, { sort: { created_at: 1 }, projection: { _id: 0, cre…",
        '{ _id: 0, created_at: 1 }',
        '{}',
      ],
    ],
  },
  {
    file: 'libs/messaging/src/events/queues.ts',
    why: 'With no jobs BullMQ adds nothing: Redis is spared the question.',
    mutants: [['if (jobs.length === 0) return;', 'jobs.length === 0', 'false']],
  },
  {
    file: 'services/worker/src/relay/enqueue.ts',
    why: 'Of a job that has not failed no dead letter is made: it is asked for in vain.',
    mutants: [
      [
        "const failed = jobs.filter((_, index) => states[index] === 'failed');",
        "jobs.filter((_, index) => states[index] === 'failed')",
        'jobs',
      ],
      ["const failed = jobs.filter((_, index) => states[index] === 'failed');", "states[index] === 'failed'", 'true'],
    ],
  },
  {
    file: 'services/worker/src/relay/enqueue.ts',
    why: 'Tracing is off in the tests of the area; test/e2e/tracing.test.ts looks at this span.',
    mutants: [
      [
        "const attributes = { 'event.id': id, 'event.subscriber': subscriber, 'outbox.attempts': a…",
        "{ 'event.id': id, 'event.subscriber': subscriber, 'outbox.attempts': attempts }",
        '{}',
      ],
      [
        "return inSpan('outbox.relay', { attributes }, contextOf({ requestId: requestid, tracepare…",
        "'outbox.relay'",
        '""',
      ],
      [
        "return inSpan('outbox.relay', { attributes }, contextOf({ requestId: requestid, tracepare…",
        '{ attributes }',
        '{}',
      ],
      [
        "return inSpan('outbox.relay', { attributes }, contextOf({ requestId: requestid, tracepare…",
        '{ requestId: requestid, traceparent }',
        '{}',
      ],
    ],
  },
  {
    file: 'services/worker/src/relay/relay.ts',
    why: 'A text is none of the rows.',
    mutants: [
      [
        "handed.map((result) => new Set(result.status === 'fulfilled' ? result.value[which] : []));",
        '[]',
        '["Stryker was here"]',
      ],
    ],
  },
  {
    file: 'services/worker/src/relay/relay.ts',
    why: 'There is a set for each subscriber.',
    mutants: [
      ['const by = subscribers.filter((_, index) => had[index]?.has(row));', 'had[index]?.has', 'had[index].has'],
      [
        'const held = subscribers.filter((_, index) => heldBack[index]?.has(row));',
        'heldBack[index]?.has',
        'heldBack[index].has',
      ],
    ],
  },
  {
    file: 'services/worker/src/relay/relay.ts',
    why: 'What is written of a row of which nothing is new leaves it as it is: it is spared.',
    mutants: [
      [
        'const news = known.filter(({ by, waiting }) => waiting === 0 || by.length > 0);',
        'known.filter(({ by, waiting }) => waiting === 0 || by.length > 0)',
        'known',
      ],
      [
        'const news = known.filter(({ by, waiting }) => waiting === 0 || by.length > 0);',
        'waiting === 0 || by.length > 0',
        'true',
      ],
      [
        'const news = known.filter(({ by, waiting }) => waiting === 0 || by.length > 0);',
        'by.length > 0',
        'by.length >= 0',
      ],
    ],
  },
  {
    file: 'services/worker/src/relay/outbox-release.ts',
    why: 'Only that the number is another than the one done counts.',
    mutants: [['ordered += 1;', 'ordered += 1', 'ordered -= 1']],
  },
  {
    file: 'services/worker/src/delivery/parking.ts',
    why: 'The text is no webhook’s name.',
    mutants: [
      [
        'const parked = new Set(known.flatMap(({ _id, parked_at }) => (parked_at ? [_id] : [])));',
        '[]',
        '["Stryker was here"]',
      ],
    ],
  },
  {
    file: 'services/worker/src/delivery/job-states.ts',
    why: 'A pipeline that is no transaction always has answers; its type alone says otherwise.',
    mutants: [['const answers = (await pipeline.exec()) ?? [];', '[]', '["Stryker was here"]']],
  },
  {
    file: 'services/worker/src/delivery/deliver-event.ts',
    why: 'Tracing is off in the tests of the area; test/e2e/tracing.test.ts looks at this span.',
    mutants: [
      [
        'const attributes = {',
        "{ 'event.id': job.data.id, 'event.subscriber': subscriber, 'event.attempt': job.attemptsM…",
        '{}',
      ],
      ["'event.attempt': job.attemptsMade + 1,", 'job.attemptsMade + 1', 'job.attemptsMade - 1'],
      [
        "status = await withSpan('event.deliver', { attributes }, () => send(job.data, signal));",
        "'event.deliver'",
        '""',
      ],
      [
        "status = await withSpan('event.deliver', { attributes }, () => send(job.data, signal));",
        '{ attributes }',
        '{}',
      ],
    ],
  },
  {
    file: 'services/worker/src/delivery/webhook.ts',
    why: 'A connection that is never made cannot be arranged on loopback; the time-out of the whole attempt ends it too.',
    mutants: [['connect: { timeout: connectTimeoutMs },', '{ timeout: connectTimeoutMs }', '{}']],
  },
  {
    file: 'services/worker/src/delivery/queue-room.ts',
    why: 'A pipeline that is no transaction always has answers; its type alone says otherwise.',
    mutants: [['const answers = (await pipeline.exec()) ?? [];', '[]', '["Stryker was here"]']],
  },
  {
    file: 'services/worker/src/delivery/queue-room.ts',
    why: 'Where there are queues their counts tell whether Redis is there: it is asked in vain.',
    mutants: [['if (queues.size === 0) await redis.ping();', 'queues.size === 0', 'true']],
  },
  {
    file: 'services/worker/src/delivery/event-consumers.ts',
    why: 'A job that went back is no longer active, and BullMQ completes none such.',
    mutants: [['throw new WaitingError();', 'throw new WaitingError();', ';']],
  },
  {
    file: 'services/worker/src/delivery/event-consumers.ts',
    why: 'BullMQ does nothing with a worker that is closed, or is what it is to become: it is asked in vain.',
    mutants: [
      ['if (!isStarted || worker.closing !== undefined) return;', 'worker.closing !== undefined', 'false'],
      ['else if (worker.isPaused()) worker.resume().catch(report);', 'worker.isPaused()', 'true'],
      ['if (reasons.has(reason) === isHeld) return;', 'reasons.has(reason) === isHeld', 'false'],
    ],
  },
  {
    file: 'services/worker/src/delivery/event-consumers.ts',
    why: 'It is resolved later, once the jobs under way have ended; nobody waits for it.',
    mutants: [['if (reasons.size > 0) worker.pause(true).catch(report);', 'true', 'false']],
  },
  {
    file: 'services/worker/src/delivery/webhook-consumer.ts',
    why: 'Any text will do that no other reason has.',
    mutants: [
      ["const unknown = 'it is not known whether it is parked';", "'it is not known whether it is parked'", '""'],
      ["consumer.hold('parked', isParked);", "'parked'", '""'],
    ],
  },
  {
    file: 'libs/messaging/src/events/queues.ts',
    why: 'Only the second item is looked at.',
    mutants: [['const [, milliseconds] = /\\.(\\d+)$/.exec(jobId) ?? [];', '[]', '["Stryker was here"]']],
  },
];
