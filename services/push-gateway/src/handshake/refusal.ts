import type { CloseReason } from '@auth-account/contracts';
import type { Denial } from '@auth-account/messaging/deny-list';

/** How a stream ends whose claims have this version, by what the deny list says; undefined: it is good. */
export function refusalOf(denial: Denial | undefined, ver: number): CloseReason | undefined {
  if (denial === undefined) return undefined;
  if (denial.kind === 'revoked') return denial.reason;
  return ver < denial.ver ? 'GROUP_CHANGED' : undefined;
}
