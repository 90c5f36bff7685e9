import { randomBytes, randomUUID } from 'node:crypto';
import type { Credentials } from './probe-plan.ts';

/** Prefix of the probe's request ids, by which subscribers and operators recognise its requests. */
const requestIdPrefix = 'auth-probe-';

/** Creates an `X-Request-ID` for one run. */
export const newRequestId = () => `${requestIdPrefix}${randomUUID()}`;

/** Matches every request id of a probe, and can use an index. */
export const isProbeRequestId = { $gte: requestIdPrefix, $lt: 'auth-probe.' } as const;

/** Creates a new email address under the domain, and a random password that is not stored. */
export function newCredentials(domain: string): Credentials {
  return { email: `probe-${randomUUID()}@${domain}`, password: newPassword() };
}

/** Creates a random password. */
export const newPassword = () => randomBytes(24).toString('base64url');

/** Matches the `email_key` of every account that a probe registers under the domain, and no other. */
export function probeEmails(domain: string): RegExp {
  const hex = (length: number) => `[0-9a-f]{${length}}`;
  const uuid = [8, 4, 4, 4, 12].map(hex).join('-');
  return new RegExp(`^probe-${uuid}@${domain.replaceAll('.', '\\.')}$`);
}
