import { hashSync } from '@node-rs/argon2';
import { password } from '../../../support/accounts.ts';

/** Parameters of the api's defaults (OWASP). */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** PHC string of every seeded account's password. */
export function makeHash(): string {
  return hashSync(password, cost);
}

/** Returns the CPU milliseconds of one Argon2id hash, user and system; this process does nothing else meanwhile. */
export function bareHashMs(count: number): number {
  const before = process.cpuUsage();
  for (let done = 0; done < count; done += 1) makeHash();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / count;
}
