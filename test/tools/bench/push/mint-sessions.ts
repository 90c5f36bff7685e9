import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAccessTokenSigner, loadKeyFile } from '@auth-account/tokens';

/** A session to open, with what an app has after its login. */
export interface BenchSession {
  readonly sessionId: string;
  readonly token: string;
  /** `home_group_id` of the session. */
  readonly groupId: string;
}

export interface MintedSessions {
  /** Path of the JSON file for the clients. */
  readonly file: string;
  readonly sessions: readonly BenchSession[];
  /** The group of the first `groupSize` sessions. Each other session has its own group. */
  readonly groupId: string;
  readonly groupSize: number;
}

/** Lifetime of the tokens, for the whole benchmark. A gateway that is to accept them needs the same setting. */
export const mintedTokenSeconds = 3 * 60 * 60;

const largestGroup = 1_000;

/** Creates sessions with their tokens, and writes them to a file in `directory`. */
export async function mintSessions(keysFile: string, count: number, directory: string): Promise<MintedSessions> {
  const sign = createAccessTokenSigner({
    keys: await loadKeyFile(keysFile),
    issuer: 'https://auth.local',
    audience: 'food-storage',
    ttlSeconds: mintedTokenSeconds,
  });
  const groupId = randomUUID();
  const groupSize = Math.min(largestGroup, Math.floor(count / 2));
  const sessions: BenchSession[] = [];
  for (let index = 0; index < count; index += 1) {
    const sessionId = randomUUID();
    const home_group_id = index < groupSize ? groupId : randomUUID();
    const ids = { user_id: randomUUID(), device_id: randomUUID(), home_group_id, sid: sessionId };
    sessions.push({ sessionId, groupId: home_group_id, token: sign({ ...ids, account_type: 'OFFICE', ver: 1 }) });
  }
  const file = join(directory, 'sessions.json');
  await writeFile(file, JSON.stringify(sessions));
  return { file, sessions, groupId, groupSize };
}
