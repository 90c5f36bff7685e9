import { randomUUID } from 'node:crypto';
import { trustedDevicesOf } from '@auth-account/stores/second-factors';
import { logIn, password, registerAccount, type TokenPair } from '../support/api/accounts.ts';
import type { Authenticator } from '../support/api/authenticator.ts';
import { insertInvite } from '../support/api/groups.ts';
import type { Person } from '../support/api/providers.ts';
import type { beginTotp } from '../support/api/second-factor.ts';
import type { PushClient } from '../support/gateway/push-client.ts';
import type { AccountFixture } from './account-fixture.ts';
import { type Done, distinct, explain, type Operation } from './account-model.ts';
import { settle } from './account-settle.ts';
import type { AccountModel } from './account-state.ts';

/** A push stream of a session, and the code with which it closed. */
export interface Stream {
  readonly client: PushClient;
  /** Number of changes of group before the stream's token was signed. */
  readonly moves: number;
  ended?: number;
}

/** A session as its app holds it. */
export interface HeldSession {
  readonly device: number;
  tokens: TokenPair;
  /** Number of changes of group before the access token was signed; undefined if not known yet. */
  moves?: number;
  /** True if the app knows that the session has ended. */
  isOver?: boolean;
  readonly streams: Stream[];
}

/** A code that was requested. `code` is set when the mail with the code has been read. */
export interface HeldCode {
  readonly challengeId: string;
  readonly purpose: AccountModel['codes'][string]['purpose'];
  code: string | undefined;
  tries: number;
}

/** The real account, and the accounts of the model that it may equal. A race can leave several possible. */
export interface World {
  readonly fixture: AccountFixture;
  readonly userId: string;
  /** An invite into somebody else's household. */
  readonly invite: string;
  readonly deviceIds: readonly string[];
  accounts: readonly AccountModel[];
  readonly sessions: Map<string, HeldSession>;
  readonly codes: Map<string, HeldCode>;
  readonly undoTokens: Map<string, string>;
  /** The names in the model, by group id. */
  readonly groups: Map<string, string>;
  /** All passwords that the account ever had, newest last. */
  readonly passwords: string[];
  /** All email addresses that the account ever had, newest last. */
  readonly emails: string[];
  /** Secrets of the second factor and passkeys, by their names in the model. */
  readonly apps: Map<string, Awaited<ReturnType<typeof beginTotp>>>;
  readonly recoveryCodes: Map<string, string>;
  readonly challenges: Map<string, { readonly id: string; readonly device: number }>;
  readonly stepUpTokens: Map<string, { readonly purpose: string; readonly text: string }>;
  readonly trustTokens: Map<string, string>;
  readonly passkeys: Map<string, { readonly id: string; readonly authenticator: Authenticator }>;
  passkeysAsked: number;
  readonly identities: Map<string, { readonly id: string; readonly person: Person }>;
  identitiesAsked: number;
  /** Tokens that stop a removal, by the names of their orders. */
  readonly stopTokens: Map<string, string>;
  /** Numbers of wrong passwords and factors so far, which keep a course below the limits. */
  failures: number;
  wrongFactors: number;
  names: number;
  /** True while an operation other than a loop has no answer. Loops go on until then. */
  isChanging: boolean;
  /** Counts of outcomes in all courses, by kind of operation, alone or in a race. */
  readonly figures: Map<string, number>;
  /** Events so far, for a failure's message. */
  readonly story: string[];
}

export const accountOf = ({ accounts }: World): AccountModel => accounts[0] as AccountModel;

export function nextName(world: World, what: string): string {
  world.names += 1;
  return `${what} ${world.names}`;
}

/** Registers an account with a session and a stream on each of three devices, and creates a household to move to. */
export async function begin(fixture: AccountFixture, figures: Map<string, number>): Promise<World> {
  const { api } = fixture;
  const [host, { email, user_id, home_group_id }] = [await registerAccount(api), await registerAccount(api)];
  const world: World = {
    fixture,
    userId: user_id,
    invite: await insertInvite(api, host.home_group_id),
    deviceIds: [randomUUID(), randomUUID(), randomUUID()],
    accounts: [],
    sessions: new Map(),
    codes: new Map(),
    undoTokens: new Map(),
    groups: new Map([
      [home_group_id, 'home'],
      [host.home_group_id, 'host'],
    ]),
    passwords: [password],
    emails: [email],
    ...{ apps: new Map(), recoveryCodes: new Map(), challenges: new Map(), stepUpTokens: new Map() },
    ...{ trustTokens: new Map(), passkeys: new Map(), passkeysAsked: 0 },
    ...{ identities: new Map(), identitiesAsked: 0, stopTokens: new Map() },
    failures: 0,
    wrongFactors: 0,
    names: 0,
    isChanging: false,
    figures,
    story: [],
  };
  const sessions: Record<string, { device: number }> = {};
  for (const [device, device_id] of world.deviceIds.entries()) {
    const name = nextName(world, 'session');
    sessions[name] = { device };
    world.sessions.set(name, { device, tokens: await logIn(api, email, { device_id }), moves: 0, streams: [] });
  }
  const blank = { isVerified: false, isDisabled: false, isLeaving: false, moves: 0, changes: 0, codes: {}, former: [] };
  const signInMethods = { challenges: {}, tokens: {}, trusted: {}, passkeys: {}, identities: {} };
  world.accounts = [{ email, password, group: 'home', sessions, ...blank, ...signInMethods }];
  return world;
}

/** An operation, and the request that carries it out. */
export interface Planned {
  readonly operation: Operation;
  readonly afterMs: number;
  /** Returns the outcome, in which a group stands as `{id}`. */
  readonly send: () => Promise<string>;
}

/**
 * Carries out operations at the same time, and asserts that some order explains their outcomes and the stores after
 * them.
 */
export async function take(world: World, planned: readonly Planned[]): Promise<void> {
  let unanswered = planned.filter(({ operation }) => operation.kind !== 'refresh in a loop').length;
  world.isChanging = unanswered > 0;
  const sent = planned.map(async ({ operation, afterMs, send }) => {
    if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs));
    const outcome = await send();
    if (operation.kind !== 'refresh in a loop') unanswered -= 1;
    world.isChanging = unanswered > 0;
    return { operation, outcome };
  });
  const answered = await Promise.all(sent);
  // Must come first, because a simultaneous login may already be in the household that a move has created.
  for (const { operation, outcome } of answered) learnGroup(world, operation, outcome);
  const done = answered.map(({ operation, outcome }): Done => {
    return { operation, outcome: outcome.replace(idInOutcome, (_, id: string) => world.groups.get(id) ?? id) };
  });
  const lines = done.map(({ operation, outcome }) => `${JSON.stringify(operation)} → ${outcome}`);
  world.story.push(lines.join('\n  with '));
  for (const { operation, outcome } of done) {
    const what = `${operation.kind}${done.length > 1 ? ', raced' : ''}: ${outcome.replace(/^(200|202).*/, '$1')}`;
    world.figures.set(what, (world.figures.get(what) ?? 0) + 1);
  }
  const seen = await look(world);
  const explained = distinct(world.accounts.flatMap((account) => explain(account, done)));
  const same = explained.filter((account) => JSON.stringify(shownOf(account)) === JSON.stringify(seen));
  if (same.length === 0) throw new Error(describe(world, explained, seen));
  world.accounts = same;
  await settle(world);
}

function describe({ story }: World, explained: readonly AccountModel[], seen: object): string {
  const expected = explained.map((account) => `expected ${JSON.stringify(shownOf(account))}`);
  const orders = expected.length === 0 ? ['no order of the last ones has these outcomes'] : expected;
  return [...story, ...orders, `stored ${JSON.stringify(seen)}`].join('\n');
}

/** Matches a group's id in an outcome, which the group's name replaces. */
const idInOutcome = /\{(.*)\}/;

/** Learns the id of a household that a move has created. */
function learnGroup({ groups }: World, operation: Operation, outcome: string): void {
  const id = idInOutcome.exec(outcome)?.[1];
  if (operation.kind === 'move' && id !== undefined && !groups.has(id)) groups.set(id, operation.to);
}

/** Returns what the stores show of an account of the model. */
function shownOf({ email, isDisabled, isLeaving, group, former, sessions, codes, ...signInMethods }: AccountModel) {
  const ends = Object.entries(sessions).map(([name, { ended }]) => `${name}: ${ended ?? `lives in ${group}`}`);
  const addresses = former.map((each) => each.email);
  return {
    ...{ email, isDisabled, isLeaving, group, addresses, sessions: ends.sort(), codes: Object.keys(codes).sort() },
    ...{ recoveryCodes: signInMethods.factor?.codes.length, passkeys: Object.keys(signInMethods.passkeys).sort() },
    identities: Object.keys(signInMethods.identities).sort(),
    isRemovalOrdered: signInMethods.factor?.removal !== undefined,
    trusted: Object.keys(signInMethods.trusted).sort(),
  };
}

const recordedReasons: Readonly<Record<string, string>> = { logout: 'logged_out', revoked_by_user: 'revoked' };

/** Reads the same facts from MongoDB. */
async function look({ fixture, userId, groups, ...world }: World): Promise<ReturnType<typeof shownOf>> {
  const { users, sessions, challenges } = fixture.api.collections;
  const now = new Date();
  const [user, stored, open] = await Promise.all([
    users.findOne({ _id: userId }),
    sessions.find({ user_id: userId }).toArray(),
    challenges.find({ user_id: userId, ended_at: null }).toArray(),
  ]);
  const sessionNames = new Map([...world.sessions].map(([name, { tokens }]) => [tokens.session_id, name]));
  const codeNames = new Map([...world.codes].map(([name, { challengeId }]) => [challengeId, name]));
  const passkeyNames = new Map([...world.passkeys].map(([name, { id }]) => [id, name]));
  const identityNames = new Map([...world.identities].map(([name, { id }]) => [id, name]));
  const nameOf = (id: string | undefined) => groups.get(id ?? '') ?? String(id);
  const ends = stored.map(({ _id, is_revoked, revoked_reason: reason = '', claims }) => {
    const end = is_revoked ? (recordedReasons[reason] ?? reason) : `lives in ${nameOf(claims.home_group_id)}`;
    return `${sessionNames.get(_id) ?? _id}: ${end}`;
  });
  return {
    email: String(user?.email),
    isDisabled: user?.disabled_at !== undefined,
    isLeaving: user?.deletes_at !== undefined,
    group: nameOf(user?.home_group_id),
    // Email addresses that an undo has removed stay until the worker deletes them.
    addresses: (user?.former_emails ?? []).filter(({ until }) => until > now).map(({ email }) => email),
    sessions: ends.sort(),
    codes: open.map(({ _id }) => codeNames.get(_id) ?? _id).sort(),
    recoveryCodes: user?.totp && (user.recovery_codes?.length ?? 0),
    passkeys: (user?.passkeys ?? []).map(({ id }) => passkeyNames.get(id) ?? id).sort(),
    identities: (user?.identities ?? []).map(({ id }) => identityNames.get(id) ?? id).sort(),
    isRemovalOrdered: user?.totp?.removal !== undefined,
    trusted: (user === null ? [] : trustedDevicesOf(user, now))
      .map(({ device_id }) => String(world.deviceIds.indexOf(device_id)))
      .sort(),
  };
}
