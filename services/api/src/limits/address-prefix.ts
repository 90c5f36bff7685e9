import type { PrefixLength } from '@auth-account/telemetry';

export { addressPrefix } from '@auth-account/telemetry';

/** What one subscriber's line has, as a rule: an IPv4 address, or a /64 with as many addresses as he likes. */
export const subscriberPrefix: PrefixLength = { v4: 32, v6: 64 };
