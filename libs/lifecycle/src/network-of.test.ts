import { expect, test } from '@jest/globals';
import { loggedNetwork, networkOf } from './network-of.ts';

/** Prefix lengths that distinguish the connections of single customers. */
const subscriberPrefix = { v4: 32, v6: 64 };

// answers: better-auth CVE-2026-45364, https://vulnerability.circl.lu/vuln/ghsa-p6v2-xcpg-h6xw
// Each IPv6 address, in each spelling, had limits of its own.
test.each([
  ['192.0.2.77', '192.0.2.77/32'],
  ['::ffff:192.0.2.77', '192.0.2.77/32'],
  ['::ffff:c000:24d', '192.0.2.77/32'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2:ffff::', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::', '2001:db8:1:3::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['::1', '::/64'],
  ['192.0.2.77:4711', '192.0.2.77/32'],
  ['[2001:db8:1:2::77]:4711', '2001:db8:1:2::/64'],
])('a client at %s counts as %s', (address, prefix) => {
  expect(networkOf(address, subscriberPrefix)).toBe(prefix);
});

test.each([
  ['192.0.2.77', '192.0.2.0/24'],
  ['::ffff:192.0.2.77', '192.0.2.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
])('the IP address %s is logged as %s', (address, prefix) => {
  expect(loggedNetwork(address)).toBe(prefix);
});

test('a prefix length within a byte keeps its bits', () => {
  expect(networkOf('203.0.113.255', { v4: 20, v6: 64 })).toBe('203.0.112.0/20');
});

test.each([undefined, '', 'localhost', 'localhost:80', '192.0.2.1:', '[192.0.2.1', '192.0.2.1, 192.0.2.2'])(
  'the network of %j is unknown',
  (address) => {
    expect(networkOf(address, subscriberPrefix)).toBe('unknown');
  },
);
