import { randomUUID } from 'node:crypto';
import { patiently, type World } from '../load/app.ts';
import { callOf, callUntilAnswered, type Reply } from '../load/app-request.ts';
import { isDue } from '../load/credentials.ts';
import type { AccountRecord, Credentials, Deletion } from '../load/ledger.ts';

/** Number of accounts that are tried at once. */
const accountsAtOnce = 20;
const timeoutMs = 20_000;
/** Milliseconds for which a try without an answer is repeated. */
const patienceMs = 60_000;

/**
 * Tries the credentials of every account that was changed. The present credentials must log in, and the former ones
 * must not. Nobody may log in to an erased account, and its email address must be free. This check must be the last,
 * because it changes the stores.
 */
export async function checkLogins(world: World): Promise<void> {
  const changed = [...world.ledger.accounts.values()].filter(({ changes }) => changes.length > 0);
  for (let from = 0; from < changed.length; from += accountsAtOnce) {
    await Promise.all(changed.slice(from, from + accountsAtOnce).map((account) => checkAccount(world, account)));
  }
  world.history.note('logins', { accounts: changed.length });
}

async function checkAccount(world: World, account: AccountRecord): Promise<void> {
  const { userId, person, former } = account;
  const { deletion, holds } = person;
  const isGone = deletion !== undefined && isDue(deletion);
  for (const pair of [...former.slice(-1), ...(isGone ? holds : [])].filter(hasPassword)) {
    const reply = await send(world, person.id, 'logIn', pair);
    if (reply?.status === 401) continue;
    world.history.violate('unusable credentials were not refused', { userId, isGone, ...saying(reply) });
  }
  await (isGone ? register(world, person.id, holds[0]) : checkPresent(world, account));
}

const hasPassword = ({ password }: Credentials) => password !== undefined;

/** Checks that exactly one of the possible pairs of email address and password can log in. */
async function checkPresent(world: World, { userId, person }: AccountRecord): Promise<void> {
  const { deletion, holds } = person;
  const good = holds.filter(hasPassword);
  const replies: (Reply | undefined)[] = [];
  for (const pair of good) replies.push(await send(world, person.id, 'logIn', pair));
  const accepted = replies.filter((reply) => isAccepted(reply, deletion)).length;
  // No login need succeed if the password may be unusable, or if a deletion that was requested has no answer.
  const isUnknown = good.length < holds.length || (deletion !== undefined && deletion.deletesAt === undefined);
  const detail = { userId, deletion, pairs: good.length, accepted, last: saying(replies.at(-1)) };
  if (accepted === 0 && !isUnknown) world.history.violate('credentials that hold were refused', detail);
  if (accepted > 1) world.history.violate('two pairs of credentials hold', detail);
}

function isAccepted(reply: Reply | undefined, deletion: Deletion | undefined): boolean {
  if (reply?.code === 'ERR-ACCOUNT-DELETION-SCHEDULED') return deletion !== undefined;
  return reply?.status === 200 && deletion?.deletesAt === undefined;
}

async function register(world: World, person: number, pair: Credentials | undefined): Promise<void> {
  const input = { email: pair?.email, password: 'of somebody else', space_creation_mode: 'CREATE_NEW_HOME' };
  const reply = await send(world, person, 'registerAccount', input);
  if (reply?.status === 201) return;
  const what = 'the email address of an account that is gone is not free';
  world.history.violate(what, { email: pair?.email, ...saying(reply) });
}

async function send(world: World, id: number, name: 'logIn' | 'registerAccount', input: object) {
  // All parts are ready, so a 503 of a busy machine is repeated.
  const caller = { world: patiently(world, patienceMs), person: { id, random: Math.random, timeoutMs } };
  const call = callOf('final try', name, input, { idempotencyKey: randomUUID() });
  return (await callUntilAnswered(caller, call)).reply;
}

const saying = (reply: Reply | undefined) => ({ status: reply?.status, code: reply?.code });
