import type { AppError } from '@auth-account/errors';
import type { PresentUser } from '@auth-account/stores';
import { credentialsVersion } from '@auth-account/stores/credentials';
import type { UserDocument } from '@auth-account/stores/documents';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type TrustingLogin, trustIn, trustTokenHash } from '../../security/device-trust.ts';
import { createDemandSecondFactor, openChallenge } from './demand-second-factor.ts';
import type { DeviceFields } from './new-device.ts';
import type { NewIdentity, ProvedLogin } from './proved-login.ts';

const at = new Date('2026-11-25T10:00:00.000Z');
const later = (ms: number) => new Date(at.getTime() + ms);
const origin = { requestId: 'request-1', network: '192.0.2.1' };
const bound = { ...origin, proof: { jkt: 'key' } };
const plain = { _id: 'cook', email_key: 'cook@example.com' } as PresentUser;
const totp = { confirmed_at: at } as NonNullable<UserDocument['totp']>;
const passkeys = [{ credential_id: 'credential', transports: [] }] as never;
const guarded: PresentUser = { ...plain, totp, recovery_codes: ['hash'], passkeys };
const device_id = '7d0f7a34-52f1-4a4e-9b0e-3a1c5d2e8f90';

/** A login by password, after its first step. */
interface Begun extends Partial<Pick<ProvedLogin, 'method' | 'auth' | 'proof'>> {
  readonly device?: DeviceFields;
  readonly first?: { readonly id: string; readonly until: Date };
  readonly link?: NewIdentity;
  readonly trustedDeviceToken?: string | undefined;
}

let audited: unknown[];
beforeEach(() => {
  audited = [];
});

/** Tokens that hold their content readably. */
const sealedTokens = {
  seal: (label: string, content: unknown) => `${label} ${JSON.stringify(content)}`,
  async open(label: string, text: string) {
    return text.startsWith(`${label} `) ? JSON.parse(text.slice(label.length)) : undefined;
  },
};

function demand(user: PresentUser, begun: Begun = {}, from: object = origin, rpId?: string) {
  const { device, first, link, trustedDeviceToken: token, ...fields } = begun;
  const ids = { deviceId: () => 'made up' };
  const audit = (...record: unknown[]) => void audited.push(record);
  const demanding = createDemandSecondFactor({ sealedTokens, audit, ids, rpId, now: () => at });
  const login: ProvedLogin = {
    seen: user,
    method: 'password',
    auth: { amr: ['pwd'], acr: '1' },
    device: { ...device, ...(token !== undefined && { trusted_device_token: token }) },
    ...(first && { challengeUses: [{ ...first, proof: [] }] }),
    link,
    ...fields,
  };
  return demanding(login, from as typeof origin);
}

/** Returns the refusal's details, and the content of its challenge. */
async function refusal(...given: Parameters<typeof demand>) {
  try {
    demand(...given);
  } catch (error) {
    const { code, details } = error as AppError<'ERR-SECOND-FACTOR-REQUIRED'>;
    return { code, details, challenge: await openChallenge(sealedTokens, String(details.challenge_id)) };
  }
  throw new Error('nothing was demanded');
}

describe('the demand for a second factor', () => {
  test('a second factor is not demanded without one', () => {
    expect(demand(plain)).toBeUndefined();
    expect(audited).toEqual([]);
  });

  test.each<[string, PresentUser, Begun]>([
    ['has given two already', guarded, { method: 'passkey', auth: { amr: ['hwk', 'user', 'mfa'], acr: '2' } }],
    [
      'proves the email address for the first time, which ends that factor',
      guarded,
      { method: 'email_code', proof: { kind: 'email_code', user: guarded, challengeId: 'code', usedBy: 'this' } },
    ],
  ])('a second factor is not demanded of a login that %s', (_, user, begun) => {
    expect(demand(user, begun)).toBeUndefined();
    expect(audited).toEqual([]);
  });

  test('a second factor is demanded with a challenge for ten minutes, which keeps the login', async () => {
    const device = { device_id, device_name: 'Pixel 9', platform: 'android' } as const;
    const first = { id: 'first', until: later(1) };
    const { code, details, challenge } = await refusal(guarded, { device, first }, bound);
    expect([code, details]).toEqual([
      'ERR-SECOND-FACTOR-REQUIRED',
      {
        challenge_id: expect.any(String),
        methods: ['totp', 'recovery_code'],
        expires_at: later(600_000).toISOString(),
      },
    ]);
    expect(challenge).toEqual({
      ...{ id: expect.stringMatching(/^[\w-]{22}$/), userId: 'cook', version: credentialsVersion(guarded) },
      ...{ method: 'password', amr: ['pwd'], first, jkt: 'key', expiresAt: later(600_000) },
      ...{ trustToken: expect.stringMatching(/^[\w-]{43}$/), device },
      deviceId: device_id,
    });
    const refused = { event: 'login.refused', user_id: 'cook', reason: 'second_factor_required' };
    expect(audited).toEqual([[refused, bound]]);
  });

  test('a device without an id gets a generated one with the demand, but none that it had sent', async () => {
    const { challenge } = await refusal(guarded);
    expect(challenge).toMatchObject({ jkt: undefined, first: undefined });
    expect([challenge?.device, challenge?.deviceId]).toStrictEqual([{}, 'made up']);
  });

  test('a second factor may be a passkey, if both service and account have them', async () => {
    const { details } = await refusal(guarded, {}, origin, 'example.com');
    expect(details).toMatchObject({
      methods: ['totp', 'recovery_code', 'passkey'],
      passkey_options: { rpId: 'example.com', allowCredentials: [{ id: 'credential' }] },
    });
    const without = await refusal({ ...guarded, passkeys: [] }, {}, origin, 'example.com');
    expect(Object.keys(without.details)).not.toContain('passkey_options');
  });

  test.each([
    ['account_disabled', 'ERR-ACCOUNT-DISABLED', { disabled_at: at }],
    ['deletion_scheduled', 'ERR-ACCOUNT-DELETION-SCHEDULED', { deletes_at: later(1) }],
  ])('a second factor is not demanded if the account may not log in: %s', (reason, code, fields) => {
    expect(() => demand({ ...guarded, ...fields })).toThrow(expect.objectContaining({ code }));
    expect(audited).toEqual([[{ event: 'login.refused', user_id: 'cook', reason }, origin]]);
  });

  test('a token of another purpose is no challenge', async () => {
    expect(await openChallenge(sealedTokens, 'step-up {}')).toBeUndefined();
  });
});

describe('trusted devices', () => {
  const trust = (fields: object = {}) => {
    const version = credentialsVersion(guarded);
    const device = { device_id, token: trustTokenHash('token'), version, trusted_at: at, until: later(1), ...fields };
    return { ...guarded, trusted_devices: [device] };
  };
  const sent = { device: { device_id: device_id.toUpperCase() }, trustedDeviceToken: 'token' };

  test('a trusted device needs no second factor', () => {
    expect(demand(trust(), sent)).toBe('used');
    expect(demand(trust({ jkt: 'key' }), sent, bound)).toBe('used');
    // A device that was trusted before it had a key stays so.
    expect(demand(trust(), sent, bound)).toBe('used');
    expect(audited).toEqual([]);
  });

  test('a trusted device needs the second factor to link an identity', async () => {
    const link = { provider: 'office', sub: 'person', email: 'cook@example.com' } as NewIdentity;
    const { code, challenge } = await refusal(trust(), { ...sent, link });
    expect([code, challenge]).toEqual(['ERR-SECOND-FACTOR-REQUIRED', expect.objectContaining({ link })]);
  });

  test.each<[string, object, object]>([
    ['no token', {}, { trustedDeviceToken: undefined }],
    ['another token', {}, { trustedDeviceToken: 'other' }],
    ['no device', {}, { device: {} }],
    ['a time that is over', { until: at }, {}],
    ['changed credentials', { version: 'another' }, {}],
    ['another key', { jkt: 'other' }, {}],
  ])('a trusted device is not recognized with %s', async (_, fields, login) => {
    expect((await refusal(trust(fields), { ...sent, ...login }, bound)).code).toBe('ERR-SECOND-FACTOR-REQUIRED');
  });

  const login = { deviceId: device_id, token: 'token', at };

  test.each<[string, Partial<TrustingLogin>, object]>([
    ['without a key', {}, {}],
    ['with the key that the login has proven', { jkt: 'key' }, { jkt: 'key' }],
    ['as one of an identity', { identityId: 'identity' }, { identity_id: 'identity' }],
  ])('a device is trusted for 30 days, and its token is stored as a hash, %s', (_, fields, stored) => {
    expect(trustIn(guarded, { ...login, ...fields })).toStrictEqual({
      ...{ device_id, token: trustTokenHash('token'), version: credentialsVersion(guarded), ...stored },
      ...{ trusted_at: at, until: later(30 * 86_400_000) },
    });
  });

  test('a device that is trusted in a login which links an identity is trusted by the account with that identity', async () => {
    const linked = { ...guarded, ways_changed_at: at };
    const demandAfter = (fields: object) =>
      demand({ ...linked, trusted_devices: [trustIn(guarded, { ...login, ...fields })] }, sent);
    expect(demandAfter({ link: { provider: 'office' } })).toBe('used');
    expect(() => demandAfter({})).toThrow(expect.objectContaining({ code: 'ERR-SECOND-FACTOR-REQUIRED' }));
  });
});
