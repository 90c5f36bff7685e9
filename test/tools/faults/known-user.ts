import { randomUUID } from 'node:crypto';
import type { AccountEventOf, AccountTopic, AuthEvent } from '@auth-account/contracts/events';
import { createAccountEvent } from '@auth-account/messaging';
import type { OutboxDocument } from '@auth-account/stores/documents';
import { newEmail, password } from '../../support/api/accounts.ts';
import type { TokenApi } from '../../support/api/token-api.ts';
import type { AccountRecord, Credentials, Deletion, Ledger } from './load/ledger.ts';

/** An account in a test's ledger, whose fields the test may change. */
export interface KnownAccount extends AccountRecord {
  readonly person: { readonly id: number; holds: readonly Credentials[]; deletion?: Deletion | undefined };
}

/** Registers a user, logs in, and writes the answers into the ledger. */
export async function registerKnown(api: TokenApi, ledger: Ledger): Promise<KnownAccount> {
  const email = newEmail();
  const body = { email, password, space_creation_mode: 'CREATE_NEW_HOME' };
  const { data } = (await api.registerAccount(body, { 'Idempotency-Key': email })).json;
  const { user_id: userId, home_group_id: groupId } = data;
  const registration = { email, invite: undefined, person: { groupId }, outcome: 'acknowledged', userId } as const;
  ledger.registrations.set(email, { ...registration, firstGroupId: groupId });
  const tokens = (await api.logIn({ email, password })).json.data;
  const { session_id: sessionId, device_id: deviceId, access_token: accessToken, refresh_token: refreshToken } = tokens;
  const common = { sessionId, userId, deviceId, accessToken, refreshToken, streamPath: '', streams: new Set<never>() };
  ledger.sessions.set(sessionId, { ...common, state: 'live' });
  const account: KnownAccount = { userId, person: { id: 1, holds: [{ email, password }] }, changes: [], former: [] };
  ledger.accounts.set(userId, account);
  return account;
}

/** Creates an event with the present time. */
export function madeUp<Topic extends AccountTopic>(
  topic: Topic,
  data: AccountEventOf<Topic>['data'],
): AccountEventOf<Topic> {
  return createAccountEvent(topic, data, { id: randomUUID(), requestId: 'made-up', at: new Date() });
}

export function notificationOf(user_id: string) {
  return madeUp('service.auth.events.notice', { user_id, purpose: 'new_device', locale: 'en' });
}

/** Returns the outbox row of an event that was sent to no subscriber. */
export function rowOf(event: AuthEvent): OutboxDocument {
  const at = new Date();
  const state = { state: 'delivered', created_at: at, locked_until: at, attempts: 0, deliveries: {} } as const;
  return { _id: event.id, topic: event.type, event, ...state };
}
