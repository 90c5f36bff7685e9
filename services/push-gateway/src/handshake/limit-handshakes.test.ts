import { expect, jest, test } from '@jest/globals';
import { createLimitHandshakes } from './limit-handshakes.ts';

function fixture(limit = 2) {
  const clock = { ms: 1_000_000 };
  const write = jest.fn();
  const count = createLimitHandshakes({ limit, sampler: { write }, now: () => clock.ms });
  const isLetIn = (network: string | undefined) => {
    try {
      count({ network, requestId: 'r' });
      return true;
    } catch {
      return false;
    }
  };
  return { clock, write, count, isLetIn };
}

test('a network has a limit per minute, and learns of its excess, and others are not affected', () => {
  const { clock, count, isLetIn } = fixture();
  expect([1, 2, 3].map(() => isLetIn('192.0.2.1'))).toEqual([true, true, false]);
  expect([isLetIn('192.0.2.2'), isLetIn(undefined)]).toEqual([true, true]);
  clock.ms += 18_500;
  const refused = expect.objectContaining({ code: 'ERR-RATE-LIMITED', retryAfterSeconds: 42 });
  expect(() => count({ network: '::ffff:192.0.2.1', requestId: 'r' })).toThrow(refused as never);
  clock.ms += 41_500;
  expect(isLetIn('192.0.2.1')).toBe(true);
});

test('an IPv6 network is a /64', () => {
  const { isLetIn } = fixture();
  const near = ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:ffff::3'];
  expect(near.map(isLetIn)).toEqual([true, true, false]);
  expect(isLetIn('2001:db8:0:1::1')).toBe(true);
});

test('a clock that was set back blocks nobody for longer than a minute', () => {
  const { clock, isLetIn } = fixture(1);
  expect([isLetIn('192.0.2.1'), isLetIn('192.0.2.1')]).toEqual([true, false]);
  clock.ms -= 3_600_000;
  expect(isLetIn('192.0.2.1')).toBe(true);
});

test('a flood from very many networks takes bounded memory: the first is forgotten', () => {
  const { isLetIn } = fixture(1);
  for (let index = 0; index < 100_000; index += 1) isLetIn(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`);
  expect([isLetIn('10.0.0.0'), isLetIn('192.0.2.1'), isLetIn('10.0.0.0')]).toEqual([false, true, true]);
});

test('a refusal is an audit event, which names the network in the same form as others', () => {
  const { write, isLetIn } = fixture(1);
  for (let count = 0; count < 2; count += 1) isLetIn('192.0.2.1');
  const fields = { event: 'limit.exceeded', reason: 'handshake_address', request_id: 'r', address: '192.0.2.0/24' };
  expect(write.mock.calls).toEqual([[expect.objectContaining({ fields: expect.objectContaining(fields) })]]);
});
