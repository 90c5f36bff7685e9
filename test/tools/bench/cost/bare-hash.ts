import { hashSync } from '@node-rs/argon2';
import { password } from '../../../support/api/accounts.ts';

/** The api's default parameters (OWASP). */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Returns the PHC string of the seeded accounts' password. */
export function makeHash(): string {
  return hashSync(password, cost);
}

/** Returns the CPU milliseconds (user and system) of one Argon2id hash, in a process that does nothing else. */
export function bareHashMs(count: number): number {
  const before = process.cpuUsage();
  for (let done = 0; done < count; done += 1) makeHash();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / count;
}
