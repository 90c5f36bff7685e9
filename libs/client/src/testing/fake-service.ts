import type { SignedOutReason } from '../events.ts';
import { examples } from '../generated/examples.ts';
import { takesToken } from '../generated/operations.ts';
import type { PasskeyBridge } from '../groups/passkeys.ts';
import type { AuthStorage, Platform } from '../platform/platform.ts';
import { fakeIdToken } from './fake-federated.ts';
import { type FakeCall, FakeRefusal } from './fake-logins.ts';
import { createFakeOperations } from './fake-operations.ts';
import { type FakeRecords, type FakeSession, mailedCode, sessionOfAccess } from './fake-records.ts';
import { createFakeStreams, type FakeStreams } from './fake-streams.ts';

export { fakeIdToken, mailedCode };

/** Gives the service's answers without a service, for the tests of an app. */
export interface FakeService extends Pick<Platform, 'fetch'> {
  readonly baseUrl: string;
  readonly WebSocket: FakeStreams['WebSocket'];
  /** While false, no request gets through. */
  isOnline: boolean;
  /**
   * The right code of the second factor. While there is one, each login by password or mailed code on an
   * untrusted device needs it.
   * Otherwise any six digits but `000000` are right, for the accounts that have switched the second factor on.
   */
  secondFactorCode: string | undefined;
  /** Lets the service carry out the next request, but loses the answer. */
  loseNextAnswer(): void;
  /** Ends a session, as another device or an operator would. Its stream closes. */
  endSession(session_id: string, reason: NonNullable<FakeSession['ended']>): void;
  /** Makes every access token expire. */
  expireAccessTokens(): void;
  /** Sends a message to the streams of a group. */
  push(home_group_id: string, topic: string, payload: unknown): void;
}

/** Close codes for the reasons that do not close with 4001. */
const closes: Readonly<Partial<Record<SignedOutReason, number>>> = { replaced: 4005, logged_out: 1000 };

/**
 * Creates a service in memory that follows the contract for registration, logins (also by the code of a mail, which is
 * {@link mailedCode}, and by a provider's token, which {@link fakeIdToken} makes), the second factor, passkeys,
 * identities and step-ups (without cryptography), refresh with rotation, logout, sessions, the caller's account and the
 * stream. Any other operation succeeds with the contract's example and changes nothing. It checks neither the shape of bodies nor limits.
 */
export function createFakeService(): FakeService {
  const records = newRecords();
  const baseUrl = 'https://auth.test';
  const streams = createFakeStreams(records);
  const fates = { answersToLose: 0 };

  function end(session: FakeSession, reason: NonNullable<FakeSession['ended']>): void {
    session.ended = reason;
    streams.close(session.session_id, closes[reason] ?? 4001);
  }

  const known = createFakeOperations({ records, endSession: end, pushUrl: 'wss://auth.test' });

  function answer(method: string, path: string, headers: Headers, body: unknown): Response {
    const found = find(method, path);
    if (!found) return refusal(new FakeRefusal(404, 'ERR-ROUTE-NOT-FOUND'), headers);
    const [[name, , , takes], status, example] = found.success;
    const session = sessionOfAccess(records, (headers.get('Authorization') ?? '').replace('Bearer ', ''));
    if (takes & takesToken && !session) return refusal(new FakeRefusal(401, 'IAD_JWT_ACCESS_INVALID'), headers);
    try {
      const idempotencyKey = headers.get('Idempotency-Key') ?? undefined;
      const key = headers.get('DPoP')?.split('.')[0];
      const reply = { status };
      const call = { params: found.params, body, idempotencyKey, key, session, example, reply } as FakeCall;
      const data = known[name]?.(call) ?? { ...example, timestamp: records.now().toISOString() };
      return json(reply.status, { status: 'success', data }, headers);
    } catch (error) {
      if (error instanceof FakeRefusal) return refusal(error, headers);
      throw error;
    }
  }

  const service: FakeService = {
    baseUrl,
    WebSocket: streams.WebSocket,
    isOnline: true,
    get secondFactorCode() {
      return records.secondFactor.code;
    },
    set secondFactorCode(code) {
      records.secondFactor.code = code;
    },
    async fetch(url, init = {}) {
      await Promise.resolve();
      if (!service.isOnline || !url.startsWith(baseUrl)) throw new TypeError('network request failed');
      const body = init.body === undefined || init.body === null ? undefined : JSON.parse(String(init.body));
      const response = answer(init.method ?? 'GET', url.slice(baseUrl.length), new Headers(init.headers), body);
      if (fates.answersToLose === 0) return response;
      fates.answersToLose -= 1;
      throw new TypeError('network request failed');
    },
    loseNextAnswer() {
      fates.answersToLose += 1;
    },
    endSession(session_id, reason) {
      const session = records.sessions.get(session_id);
      if (session) end(session, reason);
    },
    expireAccessTokens() {
      for (const { accessTokens } of records.sessions.values()) accessTokens.clear();
    },
    push: streams.push,
  };
  return service;
}

function newRecords(): FakeRecords {
  return {
    users: new Map(),
    sessions: new Map(),
    answers: new Map(),
    secondFactor: { code: undefined, logins: new Map(), of: new Map(), trusts: new Map() },
    codes: new Map(),
    passkeys: new Map(),
    identities: [],
    links: new Map(),
    challenges: new Set(),
    consumed: new Map(),
    stepUps: new Map(),
    newId: fakeUuid,
    now: () => new Date(),
  };
}

/** Finds the operation of a request, and its parameters. */
function find(method: string, path: string) {
  for (const success of examples) {
    const [, ownMethod, template] = success[0];
    const form = new RegExp(`^${template.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
    const match = ownMethod === method ? form.exec(path) : null;
    if (match) return { success, params: { ...match.groups } };
  }
  return;
}

function refusal({ status, code, message, details }: FakeRefusal, headers: Headers): Response {
  return json(status, { error_code: code, message, details: { ...details, action: 'This is a test.' } }, headers);
}

function json(status: number, body: object, sent: Headers): Response {
  const headers = { 'Content-Type': 'application/json', 'X-Request-ID': sent.get('X-Request-ID') ?? '' };
  return new Response(JSON.stringify(body), { status, headers });
}

/** Makes an id. A test's ids need not be unguessable, and not every platform has `crypto`. */
function fakeUuid(): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(Math.random() * 16).toString(16)).join('');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-a$4-$5');
}

/** A storage in memory that can fail as a phone's key store does. */
export interface FakeStorage extends AuthStorage {
  /** While it is set, every call fails, or never settles. */
  fault: 'locked' | 'hangs' | undefined;
  /** Makes the content unreadable for good, as a restored backup does. With `isLost` the errors say so. */
  damage(isLost: boolean): void;
}

/** Creates a storage in memory. To simulate a restart of the app, give the same storage to the next client. */
export function memoryStorage(): FakeStorage {
  const content = new Map<string, { readonly value: string; readonly isLost?: boolean }>();

  async function access<T>(effect: () => T): Promise<T> {
    if (storage.fault === 'hangs') await new Promise(() => undefined);
    if (storage.fault === 'locked') throw new Error('the storage is locked');
    return effect();
  }

  const storage: FakeStorage = {
    fault: undefined,
    damage(isLost) {
      for (const [key, { value }] of content) content.set(key, { value, isLost });
    },
    get: (key) =>
      access(() => {
        const { value, isLost } = content.get(key) ?? {};
        if (isLost !== undefined) throw Object.assign(new Error('the value can not be decrypted'), { isLost });
        return value;
      }),
    set: (key, value) => access(() => void content.set(key, { value })),
    remove: (key) => access(() => void content.delete(key)),
  };
  return storage;
}

/**
 * Creates the passkeys of a device in memory, for `passkeys(fakePasskeys())`. Its user confirms each question at once,
 * and chooses the newest passkey.
 */
export function fakePasskeys(): PasskeyBridge {
  let ids: readonly string[] = [];
  return {
    async create() {
      const id = fakeUuid();
      ids = [id, ...ids];
      return { id, rawId: id, response: { clientDataJSON: '', attestationObject: '' } };
    },
    async get({ allowCredentials: allowed = [] }: { readonly allowCredentials?: readonly { readonly id: string }[] }) {
      const id = ids.find((own) => allowed.length === 0 || allowed.some((one) => one.id === own));
      if (id === undefined) throw Object.assign(new Error('no passkey'), { name: 'NotAllowedError' });
      return { id, rawId: id, response: { clientDataJSON: '', authenticatorData: '', signature: '' } };
    },
    async signalUnknownCredential({ credentialId }) {
      ids = ids.filter((id) => id !== credentialId);
    },
    async signalAllAcceptedCredentials({ allAcceptedCredentialIds: accepted }) {
      ids = ids.filter((id) => accepted.includes(id));
    },
  };
}
