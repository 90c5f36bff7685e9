import { expect } from '@jest/globals';
import { bearer } from '../support/api/api-driver.ts';
import { accept, leave } from '../support/api/groups.ts';
import { openStream } from '../support/gateway/push-client.ts';
import type { Answer } from '../support/http-client.ts';
import type { Operation } from './account-model.ts';
import { outcomeOf } from './account-settle.ts';
import type { Caller, Reauthentication } from './account-state.ts';
import { accountOf, type HeldSession, nextName, type Planned, type Stream, type World } from './account-world.ts';

/** A randomly chosen operation, with its device, the index of its code or session, and its delay. */
export interface Choice {
  readonly kind: Operation['kind'];
  readonly device: number;
  readonly which: number;
  /** Uses a password, email address, code or session that has been replaced, if there is one. */
  readonly isOld: boolean;
  readonly afterMs: number;
}

/** Returns the operation with its request; undefined if the account has nothing that allows it. */
export type Plan = (world: World, choice: Choice) => Omit<Planned, 'afterMs'> | undefined;

/** Returns the device's live session, or else its last one. */
function sessionOf(world: World, device: number): [string, HeldSession] {
  const own = [...world.sessions].filter(([, held]) => held.device === device);
  const live = own.find(([name]) => accountOf(world).sessions[name]?.ended === undefined);
  return live ?? (own.at(-1) as [string, HeldSession]);
}

export function isLoggedIn(world: World, device: number): boolean {
  const [name] = sessionOf(world, device);
  return accountOf(world).sessions[name]?.ended === undefined;
}

export function callerOf(world: World, device: number) {
  const [session, { tokens, moves = accountOf(world).moves }] = sessionOf(world, device);
  const caller: Caller = { session, moves };
  return { caller, tokens, headers: bearer(tokens) };
}

/** Returns the present item, or one of the others if `isOld`. */
export function pick(all: readonly string[], present: string | undefined, { which, isOld }: Choice): string {
  const others = all.filter((each) => each !== present);
  return (isOld ? others[which % others.length] : present) ?? (all.at(-1) as string);
}

/** Number of wrong passwords that a course may send without reaching a limit. */
const maxFailures = 10;

/** Returns the password to send; undefined if it is wrong and one more wrong password would exceed the limit. */
export function passwordOf(world: World, choice: Choice): string | undefined {
  const { password } = accountOf(world);
  const given = pick(world.passwords, password, choice);
  return given === password || world.failures < maxFailures ? given : undefined;
}

export function counted(world: World, answer: Answer): string {
  const outcome = outcomeOf(answer);
  if (/ERR-INVALID-CREDENTIALS|ERR-REAUTHENTICATION-FAILED/.test(outcome)) world.failures += 1;
  return outcome;
}

export const inGroup = (answer: Answer, outcome = outcomeOf(answer)) =>
  answer.status === 200 ? `200 {${answer.json.data.home_group_id}}` : outcome;

export const endedBy = (answer: Answer, outcome = outcomeOf(answer)) =>
  answer.status === 200 ? `200 ${answer.json.data.sessions_ended ?? answer.json.data.terminated_sessions}` : outcome;

/** Purposes of step-ups. */
export const purposes = ['password', 'deletion', 'email_change', 'totp', 'passkeys', 'identities'] as const;
export type Purpose = (typeof purposes)[number];

/** Request parts of an operation that asks who is there. */
export interface ReauthenticatedRequest {
  readonly fields: Reauthentication;
  readonly body: object;
  readonly headers: Record<string, string>;
  readonly counted: (answer: Answer) => string;
}

/**
 * Returns the caller with the password, or with a step-up token while the second factor is on; undefined if there is
 * nothing to send.
 */
export function reauthenticationOf(world: World, choice: Choice, purpose: Purpose): ReauthenticatedRequest | undefined {
  const { caller, headers } = callerOf(world, choice.device);
  const { factor, tokens } = accountOf(world);
  const request = { headers, counted: (answer: Answer) => counted(world, answer) };
  if (factor !== undefined && !choice.isOld) {
    const [token, held] =
      [...world.stepUpTokens].find(([name, each]) => each.purpose === purpose && tokens[name] === caller.session) ?? [];
    if (token === undefined || held === undefined) return;
    return { ...request, fields: { caller, token }, body: { step_up_token: held.text } };
  }
  const password = passwordOf(world, choice);
  if (password === undefined) return;
  return { ...request, fields: { caller, password }, body: { current_password: password } };
}

const planMove: Plan = (world, { device, which }) => {
  const { api } = world.fixture;
  const { caller, tokens } = callerOf(world, device);
  const isNew = which % 2 === 1;
  const operation = { kind: 'move', caller, to: isNew ? nextName(world, 'home') : 'host', isNew } as const;
  return {
    operation,
    send: async () => inGroup(await (isNew ? leave(api, tokens) : accept(api, tokens, world.invite))),
  };
};

/** Returns the device's trust, or that of another device, by its name in the model and as a field of a login. */
export function trustOf(world: World, device: number) {
  const trust = accountOf(world).trusted[device] ?? [...world.trustTokens.keys()].at(-1);
  return { trust, fields: trust === undefined ? {} : { trusted_device_token: world.trustTokens.get(trust) } };
}

const planLogIn: Plan = (world, choice) => {
  const { device } = choice;
  const password = passwordOf(world, choice);
  if (password === undefined) return;
  const session = nextName(world, 'session');
  const isOld = choice.isOld && choice.which % 2 === 0;
  const email = pick(world.emails, accountOf(world).email, { ...choice, isOld });
  const { trust, fields } = trustOf(world, device);
  const body = { email, password, device_id: world.deviceIds[device], ...fields };
  const send = async () => {
    const answer = await world.fixture.api.logIn(body);
    if (answer.status === 200) world.sessions.set(session, { device, tokens: answer.json.data, streams: [] });
    const { challenge_id: id } = answer.json.details ?? {};
    if (id !== undefined) world.challenges.set(session, { id, device });
    return inGroup(answer, counted(world, answer));
  };
  return { operation: { kind: 'log in', session, device, email, password, ...(trust && { trust }) }, send };
};

/** Refreshes, and repeats the refresh while the account is being changed. */
async function sendRefresh(world: World, held: HeldSession, refresh_token: string): Promise<Answer> {
  const answer = await world.fixture.api.refreshTokens({ refresh_token });
  if (answer.status === 503) return sendRefresh(world, held, refresh_token);
  if (answer.status === 200) {
    held.tokens = answer.json.data;
    delete held.moves;
  }
  return answer;
}

const planRefresh: Plan = (world, { device }) => {
  const [session, held] = sessionOf(world, device);
  const { refresh_token } = held.tokens;
  return {
    operation: { kind: 'refresh', session },
    send: async () => inGroup(await sendRefresh(world, held, refresh_token)),
  };
};

const planRefreshes: Plan = (world, { device }) => {
  const [session, held] = sessionOf(world, device);
  const send = async () => {
    let { refresh_token } = held.tokens;
    let answer = await sendRefresh(world, held, refresh_token);
    while (world.isChanging && answer.status === 200) {
      refresh_token = answer.json.data.refresh_token;
      answer = await sendRefresh(world, held, refresh_token);
    }
    return inGroup(answer);
  };
  return { operation: { kind: 'refresh in a loop', session }, send };
};

const planStream: Plan = (world, { device }) => {
  const { caller, tokens } = callerOf(world, device);
  const [, { streams }] = sessionOf(world, device);
  const send = async () => {
    const handshake = { sessionId: tokens.session_id, token: tokens.access_token };
    try {
      const client = await openStream(world.fixture.gateway.base, handshake);
      const stream: Stream = { client, moves: caller.moves };
      client.closed.then(
        ({ code }) => {
          stream.ended = code;
        },
        () => undefined,
      );
      streams.push(stream);
      return 'open';
    } catch (error) {
      expect(String(error)).toContain('401');
      return '401 IAD_JWT_ACCESS_INVALID';
    }
  };
  return { operation: { kind: 'open a stream', caller }, send };
};

const planEndSession: Plan = (world, { device, which }) => {
  const { caller, headers } = callerOf(world, device);
  const [session, { tokens }] = sessionOf(world, which % world.deviceIds.length);
  const send = async () => outcomeOf(await world.fixture.api.revokeSession({ session_id: tokens.session_id }, headers));
  return { operation: { kind: 'end a session', caller, session }, send };
};

const planLogOut: Plan = (world, { device }) => {
  const [session, { tokens }] = sessionOf(world, device);
  const { refresh_token } = tokens;
  const send = async () => outcomeOf(await world.fixture.api.logOut({ refresh_token }, bearer(tokens)));
  return { operation: { kind: 'log out', session }, send };
};

const planLogOutEverywhere: Plan = (world, { device }) => {
  const { caller, headers } = callerOf(world, device);
  const send = async () => endedBy(await world.fixture.api.logOutAll({}, headers));
  return { operation: { kind: 'log out everywhere', caller }, send };
};

/** Operations on sessions and groups. */
export const sessionPlans = {
  'log in': planLogIn,
  refresh: planRefresh,
  'refresh in a loop': planRefreshes,
  'log out': planLogOut,
  'log out everywhere': planLogOutEverywhere,
  'end a session': planEndSession,
  'open a stream': planStream,
  move: planMove,
} satisfies Partial<Record<Operation['kind'], Plan>>;
