import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Span } from '@auth-account/playground/otlp-spans';
import type { RequestSteps } from '@auth-account/playground/step';
import { createStepReader } from '@auth-account/playground/steps';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { logIn, newEmail, newSession, password, registerAccount } from '../support/api/accounts.ts';
import { bearer, drive, requestTo } from '../support/api/api-driver.ts';
import { codeOf, requestReset } from '../support/api/codes.ts';
import { accept, type GroupApi, insertInvite, refresh } from '../support/api/groups.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { completeDenyListOf } from '../support/gateway/gateway-fixture.ts';
import type { SentRequest } from '../support/http-client.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { startTestStack, type TestStack } from '../support/processes/test-stack.ts';
import { monitored, type SentCommand, watchSentCommands } from '../support/stores/sent-commands.ts';
import { cheapHashes, testEnvironment } from '../support/test-environment.ts';

const sent = watchSentCommands();
let api: TestApi;
let otlp: OtlpReceiver;
let stack: TestStack & GroupApi;
let load: { readonly stop: () => Promise<unknown> };

beforeAll(async () => {
  api = await startTestApi({ ...cheapHashes, MONGODB_URI: monitored(testEnvironment().mongodbUri) });
  await completeDenyListOf(api.keyPrefix);
  otlp = await startOtlpReceiver();
  const started = await startTestStack({
    ...cheapHashes,
    OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  });
  const own = drive(({ headers, ...request }) =>
    started.send({ ...request, headers: { 'X-Request-ID': randomUUID(), ...headers } }),
  );
  stack = { ...started, ...own };
  load = startLoad(stack);
});
afterAll(async () => {
  sent.close();
  await load.stop();
  await stack.close();
  await otlp.close();
  await api.close();
});

/** Starts other users who log in and refresh all the time, so that each export has spans of many requests. */
function startLoad(on: GroupApi): { readonly stop: () => Promise<unknown> } {
  let isOn = true;
  const users = Promise.all(
    Array.from({ length: 3 }, async () => {
      while (isOn) {
        await refresh(on, await newSession(on));
        await delay(50);
      }
    }),
  );
  // A failure must reach the test at its end, and must not be an unhandled rejection before that.
  users.catch(() => undefined);
  return {
    stop() {
      isOn = false;
      return users;
    },
  };
}

/** The requests of the page's stories. Each function prepares a request on an api. */
const requests: Readonly<Record<string, (on: GroupApi) => Promise<SentRequest>>> = {
  'a registration': async () =>
    requestTo('registerAccount', { email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' }),
  'a login': async (on) => requestTo('logIn', { email: (await registerAccount(on)).email, password }),
  'a wrong password': async (on) =>
    requestTo('logIn', { email: (await registerAccount(on)).email, password: 'three wrong staples' }),
  'a refresh': async (on) => requestTo('refreshTokens', { refresh_token: (await newSession(on)).refresh_token }),
  'a repeated refresh': async (on) => {
    const { refresh_token } = await newSession(on);
    await refresh(on, { refresh_token });
    return requestTo('refreshTokens', { refresh_token });
  },
  'a logout': async (on) => {
    const { refresh_token, ...session } = await newSession(on);
    return { ...requestTo('logOut', { refresh_token }), headers: bearer(session) };
  },
  'an invite': async (on) => ({ ...requestTo('createInvite', {}), headers: bearer(await newSession(on)) }),
  'a move by invite': async (on) => {
    const [host, guest] = [await newSession(on), await newSession(on)];
    const token = await insertInvite(on, host.home_group_id);
    return { ...requestTo('acceptInvite', { token, leave_current_group: true }), headers: bearer(guest) };
  },
  'a leave of a group': async (on) => {
    const [host, guest] = [await newSession(on), await newSession(on)];
    await accept(on, guest, await insertInvite(on, host.home_group_id));
    return { ...requestTo('leaveGroup'), headers: bearer(await refresh(on, guest)) };
  },
  'a code for a forgotten password': async (on) =>
    requestTo('requestPasswordReset', { email: (await registerAccount(on)).email }),
  'a new password': async (on) => {
    const { email } = await newSession(on);
    const challenge_id = await requestReset(on, email);
    const code = await codeOf(on, challenge_id);
    return requestTo('confirmPasswordReset', { challenge_id, code, new_password: 'two kettles, a pan' });
  },
  'the end of another session': async (on) => {
    const { session_id, email } = await newSession(on);
    return { ...requestTo('revokeSession', { session_id }), headers: bearer(await logIn(on, email)) };
  },
};

/** The stack's one subscriber does not receive the events for mails. */
const isDelivered = (event: string) => !event.endsWith('.code');

const nameOf = ({ name, command }: SentCommand) =>
  `${name} ${typeof command[name] === 'string' ? command[name] : ''}`.trim();

/** Returns the types of the events in the statements that the api has sent. */
function eventsOf(commands: readonly SentCommand[]): string[] {
  const rows = commands
    .filter(({ command }) => command.insert === 'outbox')
    .flatMap(({ command }) => command.documents);
  return rows.map(({ event }) => event.type);
}

/** Returns the statements that the steps of a request show, in order. */
function statementsOf(steps: RequestSteps['steps']): string[] {
  return steps.flatMap(({ deed }) => {
    if (deed.kind === 'commands') return deed.commands;
    return deed.kind === 'transaction' ? [...deed.commands, ...(deed.isCommitted ? ['commitTransaction'] : [])] : [];
  });
}

/** Reads the spans in random order and in batches of random size, and returns the request's last report. */
function readShuffled(spans: readonly Span[], requestId: string): RequestSteps | undefined {
  const read = createStepReader();
  const waiting = spans
    .map((span) => ({ span, order: Math.random() }))
    .toSorted((one, other) => one.order - other.order);
  let last: RequestSteps | undefined;
  while (waiting.length > 0) {
    const delivery = waiting.splice(0, 1 + Math.floor(Math.random() * 7)).map(({ span }) => span);
    last = read(delivery).find((each) => each.requestId === requestId) ?? last;
  }
  return last;
}

test.each(Object.keys(requests))('the steps of %s are what the api has done', async (name) => {
  const prepare = requests[name];
  if (prepare === undefined) throw new Error(`${name} is not among the requests`);
  const known = await prepare(api);
  let expected: number | undefined;
  const commands = await sent.during(async () => {
    expected = (await api.send(known)).status;
  });
  const request = await prepare(stack);
  const requestId = `phone-${randomUUID()}`;
  const before = otlp.spans().length;
  const { status } = await stack.send({ ...request, headers: { ...request.headers, 'X-Request-ID': requestId } });
  expect(status).toBe(expected);
  const summary = ({ steps }: RequestSteps) => ({
    statements: statementsOf(steps),
    // Events reach subscribers in any order.
    events: steps.flatMap(({ deed }) => (deed.kind === 'deliver' ? [deed.event] : [])).toSorted(),
    answers: steps.flatMap(({ deed }) => (deed.kind === 'answer' ? [deed.status] : [])),
  });
  const happened = {
    statements: commands.map(nameOf),
    events: eventsOf(commands).filter(isDelivered).toSorted(),
    answers: [status],
  };
  const isWhole = (spans: readonly Span[]) =>
    isDeepStrictEqual(summary(readShuffled(spans.slice(before), requestId) ?? { requestId, steps: [] }), happened);
  // Spans come up to a second later. If they never say what happened, the comparison below shows the difference.
  const spans = await otlp.waitFor(isWhole, 90_000).catch(() => otlp.spans());
  expect(summary(readShuffled(spans.slice(before), requestId) ?? { requestId, steps: [] })).toEqual(happened);
});
