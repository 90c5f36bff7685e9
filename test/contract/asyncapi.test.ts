import { readFile } from 'node:fs/promises';
import {
  type CloseReason,
  closeCodes,
  closeReactionOf,
  closeReactions,
} from '@auth-account/contracts/push/close-codes';
import { handshakeErrors } from '@auth-account/contracts/push/stream-errors';
import { type ErrorCode, rowOf } from '@auth-account/errors';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { asyncApiChecker } from '../support/api/asyncapi-checker.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

const readJson = async (url: URL) => JSON.parse(await readFile(url, 'utf8'));
const checkedIn = await readJson(new URL('../../docs/asyncapi.json', import.meta.url));
const { pushStream } = checkedIn.channels;

interface Operation {
  readonly action: 'send' | 'receive';
  readonly messages: readonly { readonly $ref: string }[];
  readonly reply?: { readonly messages: readonly { readonly $ref: string }[] };
}

describe('the AsyncAPI document', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  test('the AsyncAPI document is served as it is checked in, and may be cached', async () => {
    const answer = await api.send({ method: 'GET', path: '/asyncapi.json' });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers['cache-control']).toBe('public, max-age=300');
    expect(answer.json).toEqual(checkedIn);
  });
});

describe('the form of the AsyncAPI document', () => {
  test('the AsyncAPI document fits the official schema of AsyncAPI 3.0', async () => {
    const schema = import.meta.resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json');
    const ajv = new Ajv({ strict: false, allErrors: true });
    addFormats.default(ajv);
    const validate = ajv.compile(await readJson(new URL(schema)));
    validate(checkedIn);
    expect(validate.errors).toBeNull();
    expect(validate({ ...checkedIn, channels: { pushStream: { ...pushStream, frames: [] } } })).toBe(false);
  });

  test('every reference of the AsyncAPI document has a target', () => {
    const references = [...JSON.stringify(checkedIn).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    expect(references.length).toBeGreaterThan(40);
    const missing = references.filter((path) => {
      const target = path
        .split('/')
        .reduce<unknown>((part, key) => (part as Record<string, unknown>)?.[key], checkedIn);
      return target === undefined;
    });
    expect(missing).toEqual([]);
  });

  test('each message of the AsyncAPI document is in one operation, in the direction that it goes', () => {
    const namesOf = (list: Operation['messages'] = []) => list.map(({ $ref }) => $ref.split('/').at(-1));
    const operations: Operation[] = Object.values(checkedIn.operations);
    const received = operations.flatMap(({ action, messages }) => (action === 'receive' ? namesOf(messages) : []));
    const sent = operations.flatMap(({ action, messages, reply }) => [
      ...(action === 'send' ? namesOf(messages) : []),
      ...namesOf(reply?.messages),
    ]);
    expect(received.toSorted()).toEqual(['auth', 'groupMessage', 'ping', 'sessionMessage']);
    expect(sent.toSorted()).toEqual([
      ...['authOk', 'error', 'factorRemoval', 'hello', 'message', 'newDevice', 'pong', 'reconnect'],
    ]);
  });
});

describe('every example', () => {
  const checker = asyncApiChecker(checkedIn);
  const channels = Object.entries(checkedIn.channels as Record<string, { messages: object }>);
  const examples = channels.flatMap(([channel, { messages }]) =>
    Object.keys(messages).flatMap((name) =>
      (checkedIn.components.messages[name].examples as { name: string; payload: object }[]).map(
        ({ name: example, payload }) => ({ channel, name, example, payload }),
      ),
    ),
  );

  test('each message of the AsyncAPI document has an example', () => {
    expect(new Set(examples.map(({ name }) => name)).size).toBe(Object.keys(checkedIn.components.messages).length);
  });

  test.each(examples)('the example $example is the message $name and no other', (each) => {
    expect(checker.namesOf(each.channel, each.payload)).toEqual([each.name]);
    expect(checker.unknownMembers(each.name, each.payload)).toEqual([]);
  });
});

describe('close codes', () => {
  const { codes, other } = pushStream['x-close-codes'];
  type Row = { readonly code: number; readonly reason: CloseReason; readonly reaction: string };

  // guarantees: asyncapi-matches
  test('all close codes are in the AsyncAPI document, each with its reason and its reaction', () => {
    const rows = (codes as Row[]).map(({ code, reason, reaction }) => ({ code, reason, reaction }));
    const expected = Object.entries(closeCodes).map(([reason, code]) => ({
      code,
      reason,
      reaction: closeReactions[reason as CloseReason],
    }));
    expect(rows.toSorted((a, b) => a.code - b.code)).toEqual(expected.toSorted((a, b) => a.code - b.code));
  });

  test('close codes have the reaction that an app looks up by the code', () => {
    for (const { code, reaction } of codes as Row[]) expect(closeReactionOf(code)).toBe(reaction);
    for (const code of [1005, 1006, 1011, 4999]) expect(closeReactionOf(code)).toBe(other.reaction);
  });
});

test('every error of a handshake has the status, reaction and retry of the catalogue', () => {
  const rows = handshakeErrors.map((code: ErrorCode) => {
    const { http, reaction, retry } = rowOf(code);
    return [code, { http, reaction, retry }];
  });
  expect(pushStream['x-handshake-errors']).toEqual(Object.fromEntries(rows));
});

test('docs/push.md has the errors of a handshake with their statuses', async () => {
  const page = await readFile(new URL('../../docs/push.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/(\d{3}) ((?:(?:, )?`[A-Z][A-Z_-]+`)+)/g)].flatMap(([, status, codes = '']) =>
    [...codes.matchAll(/`([\w-]+)`/g)].map(([, code]) => `${status} ${code}`),
  );
  expect([...new Set(rows)].toSorted()).toEqual(
    handshakeErrors.map((code) => `${rowOf(code).http} ${code}`).toSorted(),
  );
});
