// biome-ignore-all lint/style/noExcessiveLinesPerFile: a table, which is read from top to bottom
import type { Explanation } from './explain.ts';

/** Reason why each surviving mutant survives. Add one only after you have tried to kill the mutant. */
export const explanations: readonly Explanation[] = [
  {
    file: 'libs/tokens/src/email-change-token.ts',
    why: 'The newest key is always there.',
    mutants: [
      [
        "if (mac === undefined || id.length !== idLength) throw new TypeError('the id of a change …",
        'mac === undefined',
        'false',
      ],
    ],
  },
  {
    file: 'libs/tokens/src/email-change-token.ts',
    why: 'A token that is too short names no key, and is refused for that.',
    mutants: [
      [
        "if (bytes.length <= macLength + idLength || bytes.toString('base64url') !== token) return;",
        'bytes.length <= macLength + idLength',
        'bytes.length < macLength + idLength',
      ],
      [
        "if (bytes.length <= macLength + idLength || bytes.toString('base64url') !== token) return;",
        'bytes.length <= macLength + idLength',
        'false',
      ],
      [
        "if (bytes.length <= macLength + idLength || bytes.toString('base64url') !== token) return;",
        'macLength + idLength',
        'macLength - idLength',
      ],
    ],
  },
  {
    file: 'libs/tokens/src/email-change-token.ts',
    why: 'The text is always 32 hexadecimal digits: with and without an anchor it fits in one way only.',
    mutants: [
      [
        "return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');",
        '/^(.{8})(.{4})(.{4})(.{4})(.{12})$/',
        '/(.{8})(.{4})(.{4})(.{4})(.{12})$/',
      ],
      [
        "return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');",
        '/^(.{8})(.{4})(.{4})(.{4})(.{12})$/',
        '/^(.{8})(.{4})(.{4})(.{4})(.{12})/',
      ],
    ],
  },
  {
    file: 'libs/verifier/src/access-token/access-token-form.ts',
    why: 'Nothing in the block throws anything but a SyntaxError; whatever else would come is not to be swallowed.',
    mutants: [
      ['} catch (error) {', '{ if (error instanceof SyntaxError) return undefined; throw error; }', '{}'],
      ['if (error instanceof SyntaxError) return undefined;', 'error instanceof SyntaxError', 'true'],
    ],
  },
  {
    file: 'libs/verifier/src/access-token/access-token-form.ts',
    why: 'Where the pattern fits both parts are there.',
    mutants: [["const [, head = '', body = ''] = parts;", "''", '"Stryker was here!"']],
  },
  {
    file: 'libs/verifier/src/access-token/is-signed-by.ts',
    why: 'An empty name stands for UTF-8, and the text is ASCII: the bytes are the same.',
    mutants: [["const signed = Buffer.from(token.slice(0, end), 'latin1');", "'latin1'", '""']],
  },
  {
    file: 'libs/verifier/src/access-token/verifier-cache.ts',
    why: 'The key is another text, and still one of its own for each token.',
    mutants: [["const key = hash('sha256', token, 'base64url');", "'base64url'", '""']],
  },
  {
    file: 'libs/tokens/src/key-file.ts',
    why: 'Without a name the file comes as bytes, which JSON.parse reads as UTF-8.',
    mutants: [["return parseKeySet(await readFile(path, 'utf8'), path);", "'utf8'", '""']],
  },
  {
    file: 'libs/tokens/src/watch-key-file.ts',
    why: 'Without a name the file comes as bytes, which JSON.parse reads as UTF-8 and the digest takes as they are.',
    mutants: [
      ["const first = await readFile(path, 'utf8');", "'utf8'", '""'],
      ["const text = await readFile(path, 'utf8');", "'utf8'", '""'],
    ],
  },
  {
    file: 'libs/tokens/src/watch-key-file.ts',
    why: 'Any text will do that is no digest.',
    mutants: [["let mark = 'unreadable';", "'unreadable'", '""']],
  },
  {
    file: 'libs/tokens/src/watch-key-file.ts',
    why: 'The times are fractions of a millisecond: they differ by exactly the gap as good as never.',
    mutants: [
      [
        'if (isClosed || at - lastAsked < rereadGapMs) return reading;',
        'at - lastAsked < rereadGapMs',
        'at - lastAsked <= rereadGapMs',
      ],
    ],
  },
  {
    file: 'libs/tokens/src/write-key-file.ts',
    why: 'A handle that is not closed is closed with the garbage, with a warning of Node: no test can wait for that.',
    mutants: [['} finally {', '{ await file.close(); }', '{}']],
  },
  {
    file: 'libs/tokens/src/refresh-token.ts',
    why: 'The text is always 32 hexadecimal digits: with and without an anchor it fits in one way only.',
    mutants: [
      [
        "return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5…",
        '/^(.{8})(.{4})(.{4})(.{4})(.{12})$/',
        '/(.{8})(.{4})(.{4})(.{4})(.{12})$/',
      ],
      [
        "return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5…",
        '/^(.{8})(.{4})(.{4})(.{4})(.{12})$/',
        '/^(.{8})(.{4})(.{4})(.{4})(.{12})/',
      ],
    ],
  },
  {
    file: 'libs/errors/src/app-error.ts',
    why: 'Only that the mark is there counts, not what it holds.',
    mutants: [
      ['Object.defineProperty(this, brand, { value: true });', '{ value: true }', '{}'],
      ['Object.defineProperty(this, brand, { value: true });', 'true', 'false'],
    ],
  },
  {
    file: 'libs/errors/src/from-http.ts',
    why: 'No header at all reads as the word `undefined`, which is no number either.',
    mutants: [
      [
        'return retryAfter !== undefined && /^\\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : un…',
        'retryAfter !== undefined',
        'true',
      ],
    ],
  },
  {
    file: 'libs/errors/src/restore-error.ts',
    why: 'A text among the statuses is equal to no status.',
    mutants: [['const { http, httpAlternatives = [] } = rowOf(code);', '[]', '["Stryker was here"]']],
  },
  {
    file: 'libs/errors/src/grpc/from-grpc.ts',
    why: 'What throws while the bytes are read becomes undefined a step further out.',
    mutants: [
      [
        "const restored = typeof bytes === 'object' ? findRestored(bytes, failure) : undefined;",
        "typeof bytes === 'object'",
        'true',
      ],
      ['if (info?.domain !== errorDomain) return undefined;', 'info?.domain', 'info.domain'],
      ['} catch {', '{ // Bytes that are no Status come from a peer that is not ours; the failure itself stays…', '{}'],
    ],
  },
  {
    file: 'services/api/src/http/validation/ajv.ts',
    why: 'It guards against a mistake in the contract, and nobody has made it.',
    mutants: [["schemaType: 'object',", "'object'", '""']],
  },
  {
    file: 'services/api/src/http/validation/ajv.ts',
    why: 'What is neither short nor long is worded in one way, whatever it is called.',
    mutants: [
      [
        "if (!text.isWellFormed() || text.includes('\\0')) return { violation: 'character', limit: …",
        "{ violation: 'character', limit: 0 }",
        '{}',
      ],
      [
        "if (!text.isWellFormed() || text.includes('\\0')) return { violation: 'character', limit: …",
        "'character'",
        '""',
      ],
    ],
  },
  {
    file: 'services/api/src/http/validation/ajv.ts',
    why: 'It is `allowUnionTypes`: without it AJV takes the same schemas, and warns of them on the console.',
    mutants: [['const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });', 'true', 'false']],
  },
  {
    file: 'services/api/src/http/validation/parse-json.ts',
    why: 'A property is always met within an object: the list is never without one then, and what lay below never counts.',
    mutants: [
      ['const objects: Set<string>[] = [];', '[]', '["Stryker was here"]'],
      [
        "if (names?.has(name)) throw new SyntaxError('an object has two members of one name');",
        'names?.has',
        'names.has',
      ],
      ['names?.add(name);', 'names?.add', 'names.add'],
    ],
  },
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
    file: 'libs/stores/src/fenced-sessions.ts',
    why: 'The driver does so by default; it is written down since all depends on it.',
    mutants: [
      [
        'return sessions.db.client.withSession({ causalConsistency: true }, async (session) => {',
        '{ causalConsistency: true }',
        '{}',
      ],
    ],
  },
  {
    file: 'libs/stores/src/fenced-sessions.ts',
    why: 'The fence is the same whichever document is read, or none, and one document is one batch.',
    mutants: [
      ["const read = { find: collectionName, filter: { _id: '' }, limit: 1, singleBatch: true };", "{ _id: '' }", '{}'],
      [
        "const read = { find: collectionName, filter: { _id: '' }, limit: 1, singleBatch: true };",
        "''",
        '"Stryker was here!"',
      ],
      ["const read = { find: collectionName, filter: { _id: '' }, limit: 1, singleBatch: true };", 'true', 'false'],
    ],
  },
  {
    file: 'services/api/src/limits/settled-limit.ts',
    why: 'Where no request may wait, the count of those that wait is not below that share either.',
    mutants: [
      ['if (share === 0 || exact.refusedFor(who) > 0 || crowded.has(who)) return false;', 'share === 0', 'false'],
    ],
  },
  {
    file: 'services/api/src/usecases/session-lifetime.ts',
    why: 'Of two equal times it does not matter which.',
    mutants: [['return a < b ? a : b;', 'a < b', 'a <= b']],
  },
  {
    file: 'libs/messaging/src/events/queues.ts',
    why: 'Only the second item is looked at.',
    mutants: [['const [, milliseconds] = /\\.(\\d+)$/.exec(jobId) ?? [];', '[]', '["Stryker was here"]']],
  },
  {
    file: 'services/api/src/usecases/log-out-all.ts',
    why: 'It is written by the work before anybody reads it.',
    mutants: [
      ['let ended: readonly { reason: RevocationReason; ids: string[] }[] = [];', '[]', '["Stryker was here"]'],
      ['let isOver = false;', 'false', 'true'],
    ],
  },
  {
    file: 'services/api/src/usecases/log-out.ts',
    why: 'No session has no id: MongoDB is asked twice in vain, and the answer is the same.',
    mutants: [['sessionId !== undefined &&', 'sessionId !== undefined', 'true']],
  },
  {
    file: 'services/api/src/codes/check-code.ts',
    why: 'Any text will do: without an address no code is right.',
    mutants: [["const nobodysEmailKey = 'nobody';", "'nobody'", '""']],
  },
  {
    file: 'services/api/src/codes/check-code.ts',
    why: 'Without an account no code is right: it is there for the type alone.',
    mutants: [['if (user === undefined || !isRight) {', 'user === undefined', 'false']],
  },
  {
    file: 'services/api/src/codes/request-code.ts',
    why: 'Only that it is not `user` counts.',
    mutants: [["const to = userId === undefined || isWithheld ? 'nobody' : 'user';", "'nobody'", '""']],
  },
  {
    file: 'services/api/src/codes/resend-code.ts',
    why: 'Only that it is not `user` counts.',
    mutants: [
      ["const to = user !== undefined && (await isRecipient(user, purpose)) ? 'user' : 'nobody';", "'nobody'", '""'],
    ],
  },
  {
    file: 'services/api/src/codes/resend-code.ts',
    why: 'The catalogue has the same time for this code, as a default.',
    mutants: [
      [
        "if (taken === undefined) throw new AppError('ERR-RATE-LIMITED', { retryAfterSeconds: code…",
        '{ retryAfterSeconds: codeResendSeconds }',
        '{}',
      ],
    ],
  },
  {
    file: 'libs/stores/src/deletion-store.ts',
    why: 'It spares MongoDB the rest of the document; nobody looks at that.',
    mutants: [
      [
        'const live = await sessions.find({ user_id, is_revoked: false }, { session, projection: {…',
        '{ _id: 1 }',
        '{}',
      ],
    ],
  },
  {
    file: 'libs/stores/src/email-change-store.ts',
    why: 'Every document that is found has the list: its type alone says otherwise.',
    mutants: [['return found.map(({ _id, former_emails = [] }) => ({', '[]', '["Stryker was here"]']],
  },
  {
    file: 'services/api/src/usecases/undo-email-change.ts',
    why: 'Without an account there is no such change: it is there for the type alone.',
    mutants: [['if (user === undefined || former === undefined) throw codeInvalid();', 'user === undefined', 'false']],
  },
  {
    file: 'services/api/src/usecases/undo-email-change.ts',
    why: 'Every account that is found has the list: its type alone says otherwise.',
    mutants: [
      [
        'const former = user?.former_emails?.find(({ change_id }) => change_id === changeId);',
        'user?.former_emails?.find',
        'user?.former_emails.find',
      ],
      [
        'function othersOf({ email, email_key, former_emails = [] }: UserDocument, former: FormerE…',
        '[]',
        '["Stryker was here"]',
      ],
    ],
  },
  {
    file: 'services/api/src/usecases/undo-email-change.ts',
    why: 'An account that is found by a change has that change: it is there for the type alone.',
    mutants: [
      [
        'if (user === undefined || former === undefined) throw codeInvalid();',
        'user === undefined || former === undefined',
        'user === undefined && former === undefined',
      ],
      ['if (user === undefined || former === undefined) throw codeInvalid();', 'former === undefined', 'false'],
    ],
  },
  {
    file: 'services/api/src/usecases/undo-email-change.ts',
    why: 'Without an id no change is found, and the next check refuses that alike.',
    mutants: [['if (found === undefined) throw codeInvalid();', 'found === undefined', 'false']],
  },
];
