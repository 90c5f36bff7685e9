import { expect, test } from '@jest/globals';
import { clientNetwork } from './handshake.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text).buffer;
const res = { getRemoteAddressAsText: () => bytesOf('10.0.0.1') };

test.each([
  [0, ['203.0.113.7'], '10.0.0.1'],
  [1, [], '10.0.0.1'],
  [1, ['192.0.2.1', '203.0.113.7'], '203.0.113.7'],
  [2, ['192.0.2.1', '203.0.113.7', '10.0.0.2'], '203.0.113.7'],
  [3, ['203.0.113.7'], '203.0.113.7'],
])(
  'the client behind %s trusted proxies, with X-Forwarded-For %j, has the network %s',
  (hops, forwardedFor, network) => {
    expect(clientNetwork(res, { forwardedFor }, hops)).toBe(network);
  },
);
