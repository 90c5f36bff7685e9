import { expect } from '@jest/globals';
import type { TokenPair } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import { codeOf, stopTokenOf, undoTokenOf } from '../support/api/codes.ts';
import type { TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';
import { eventually } from '../support/worker/worker-fixture.ts';
import type { AccountModel } from './account-state.ts';
import { accountOf, type HeldCode, type HeldSession, type Stream, type World } from './account-world.ts';

/** Returns the status, the error code, and the reason for the end of a session. */
export function outcomeOf({ status, json }: Answer): string {
  if (status < 300) return String(status);
  return [status, json.error_code, json.details?.reason].filter((part) => part !== undefined).join(' ');
}

/** Lets each app learn whether and why its session has ended. Then reads the codes and tokens in the mails. */
export async function settle(world: World): Promise<void> {
  const account = accountOf(world);
  await Promise.all([...world.sessions].map(([name, held]) => settleSession(world, account, name, held)));
  await learnSecrets(world, account);
}

/**
 * Reads from the mails the code of each open challenge, and the tokens that undo the newest change of the email address
 * and stop the removal.
 */
async function learnSecrets(
  { fixture, userId, codes, undoTokens, stopTokens }: World,
  account: AccountModel,
): Promise<void> {
  for (const name of Object.keys(account.codes)) {
    const held = codes.get(name) as HeldCode;
    held.code ??= await codeOf(fixture.api, held.challengeId);
  }
  const newest = account.former.at(-1);
  if (newest !== undefined && !undoTokens.has(newest.change)) {
    undoTokens.set(newest.change, await undoTokenOf(fixture.api, userId));
  }
  const { order } = account.factor?.removal ?? {};
  if (order !== undefined && !stopTokens.has(order)) stopTokens.set(order, await stopTokenOf(fixture.api, userId));
}

async function settleSession(world: World, account: AccountModel, name: string, held: HeldSession): Promise<void> {
  const { api } = world.fixture;
  if (held.isOver) return;
  const ended = account.sessions[name]?.ended;
  const isStale = ended !== undefined || (held.moves !== undefined && held.moves < account.moves);
  if (isStale) await eventually('the access token is refused', () => isRefused(api, held.tokens));
  const { refresh_token } = held.tokens;
  const answer = await api.refreshTokens({ refresh_token });
  if (ended === undefined) {
    expect([name, outcomeOf(answer)]).toEqual([name, '200']);
    held.tokens = answer.json.data;
    held.moves = account.moves;
    expect(world.groups.get(held.tokens.home_group_id)).toBe(account.group);
  } else {
    expect([name, outcomeOf(answer)]).toEqual([name, `401 IAD_JWT_REFRESH_STOLEN ${ended}`]);
    held.isOver = true;
  }
  await settleStreams(account, held, ended);
}

async function isRefused(api: TestApi, tokens: TokenPair): Promise<boolean> {
  const answer = await api.findAccount(bearer(tokens));
  return outcomeOf(answer) === '401 IAD_JWT_ACCESS_INVALID';
}

const closeCodes: Readonly<Record<string, number>> = { logged_out: 1000, replaced: 4005 };
const groupChanged = 4004;
const streamReplaced = 4003;

/** Waits until an ended session has no open stream, and a live session at most one. Checks the close codes. */
async function settleStreams(account: AccountModel, { streams }: HeldSession, ended: string | undefined) {
  const isCurrent = ({ moves }: Stream) => ended === undefined && moves === account.moves;
  await eventually('the streams close', () => streams.every((each) => isCurrent(each) || each.ended !== undefined));
  const current = streams.filter(isCurrent);
  if (current.length > 0) {
    await eventually('one stream is left', () => current.filter((each) => each.ended === undefined).length === 1);
  }
  for (const { ended: code, moves } of streams) {
    if (code === undefined) continue;
    const mayBe = [
      ...(ended === undefined ? [] : [closeCodes[ended] ?? 4001]),
      ...(moves < account.moves ? [groupChanged] : []),
      ...(streams.length > 1 ? [streamReplaced] : []),
    ];
    expect(mayBe).toContain(code);
  }
}

/** Asserts at the end of a course that no ended session has come back, and ends the streams. */
export async function finish(world: World): Promise<void> {
  const { fixture, sessions } = world;
  const account = accountOf(world);
  for (const [name, { tokens, streams }] of sessions) {
    const ended = account.sessions[name]?.ended;
    if (ended !== undefined) {
      const answer = await fixture.api.refreshTokens({ refresh_token: tokens.refresh_token });
      expect(outcomeOf(answer)).toBe(`401 IAD_JWT_REFRESH_STOLEN ${ended}`);
      expect(await isRefused(fixture.api, tokens)).toBe(true);
    }
    for (const { client } of streams) client.socket.terminate();
  }
}
