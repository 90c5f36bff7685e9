import { type Route, routes } from '@auth-account/contracts';
import { isThrowableCode, rowOf } from '@auth-account/errors';
import { limitRules } from '../limits/limits-table.ts';
import { passkeyFaults } from '../security/passkeys/passkey-fault.ts';
import { securityEventTokenFaults } from '../security/providers/provider.ts';
import type { AuditRow, EventOf } from './audit-row.ts';

/** Returns true if the status refuses authorization. */
export const isAuthorizationStatus = (status: number): boolean => status === 401 || status === 403;

const guarded: readonly Route[] = Object.values<Route>(routes).filter(({ auth }) => auth !== 'none');

/** All codes with which routes refuse authorization, in the order of the contract. */
const authorizationCodes = [...new Set(guarded.flatMap(({ errors }) => errors).filter(isThrowableCode))].filter(
  (code) => isAuthorizationStatus(rowOf(code).http),
);

/** Returns reasons without explanations. */
function plain<R extends string>(reasons: readonly R[]) {
  return Object.fromEntries(reasons.map((reason) => [reason, ''])) as Readonly<Record<R, string>>;
}

const user = ['user_id'] as const;
const session = ['user_id', 'session_id'] as const;
const group = ['user_id', 'session_id', 'home_group_id'] as const;

/**
 * Every event of the audit log. The type of an event, its counter and its line in docs/audit.md come from its row here.
 */
export const auditEvents = {
  'account.registered': { fields: user, meaning: 'An account was created. A replay by `Idempotency-Key` is no event.' },
  'login.succeeded': {
    fields: [...session, 'method'],
    counts: [{ in: 'logins' }, { in: 'sessionsOpened', from: 'method' }],
    meaning:
      'A session was opened; `method` is the sign-in method: `password`, `passkey`, `email_code` or `federated`.',
  },
  'login.failed': {
    outcome: 'failure',
    fields: ['user_id?'],
    reasons: {
      unknown_account: '',
      wrong_password: '',
      unknown_passkey: 'no account has it',
      wrong_passkey: '`passkey_proof.refused` says why',
      wrong_identity_token: 'a token of a provider: not for this app and challenge, or over',
      idempotency_key_reused:
        'a registration with a known `Idempotency-Key` and another body: it may be a guess at the password',
    },
    counts: [{ in: 'logins' }, { in: 'loginFailures', from: 'reason' }],
    meaning: 'The credentials of a login or a restore were wrong. `user_id` is there if the account exists.',
  },
  'login.verified': {
    fields: ['user_id', 'session_id?'],
    counts: { in: 'logins' },
    meaning:
      'The password was right, and no session was opened: at a restore (`account.deletion_cancelled` follows if a deletion waited), or at a login repeated with its `Idempotency-Key` (`session_id` is the session that it gets).',
  },
  'login.refused': {
    outcome: 'failure',
    fields: user,
    reasons: {
      credentials_changed: 'since the proof was checked',
      account_disabled: '',
      deletion_scheduled: '',
      email_not_verified: '`REQUIRE_VERIFIED_EMAIL`',
      second_factor_required: 'the account demands a second factor, and the device is not trusted',
      identity_disabled: 'the provider has disabled its account; the token was genuine',
    },
    counts: [{ in: 'logins' }, { in: 'loginFailures', from: 'reason' }],
    meaning: 'The proof was right, but the account opens no session, or is not restored.',
  },
  'reauthentication.failed': {
    outcome: 'failure',
    fields: session,
    meaning:
      'An operation that asks for the password again got a wrong one. The [limits](./specification/login-and-tokens.md#wrong-passwords) count it like a failed login, in the session. `authorization.failed` follows.',
  },
  'account.stepped_up': {
    fields: [...session, 'method'],
    counts: { in: 'stepUps', from: 'method' },
    meaning:
      'The user of a session proved once more who is there, by `method`: for an operation that asks for it, or to renew `auth_time`.',
  },
  'account.changed': { fields: session, meaning: 'The user changed their name or language.' },
  'account.password_changed': {
    fields: session,
    meaning: 'The user changed the password. `session.revoked` follows for each other session.',
  },
  'account.deletion_scheduled': {
    fields: ['user_id', 'session_id?'],
    counts: { in: 'codes', as: 'confirmed', purpose: 'account_deletion', unless: 'session_id' },
    meaning:
      'The deletion of the account was ordered; without `session_id` by a code from the mailbox, which makes the password of an unverified account unusable (it is then an event even if the deletion was ordered before). `session.revoked` follows for each session.',
  },
  'account.deletion_cancelled': { fields: user, meaning: 'The account was restored before it was erased.' },
  'account.second_factor_on': {
    fields: session,
    meaning:
      'The user switched the second factor on, or replaced the authenticator app. `session.revoked` follows for each other session.',
  },
  'account.second_factor_off': {
    fields: ['user_id', 'session_id?'],
    meaning:
      'The user switched the second factor off; without `session_id` a recovery did, after somebody else may have added it. `session.revoked` follows for each other session.',
  },
  'account.password_guessed': {
    outcome: 'failure',
    fields: user,
    meaning:
      'Wrong passwords have used up the tries of the account. The owner was mailed, once in 24 hours. Devices that have shown the password, and resets, still get in.',
  },
  'account.second_factor_guessed': {
    outcome: 'failure',
    fields: user,
    meaning:
      'Somebody who had passed the first step of logins, or had a session, used up the tries of the second factor on a device, in a network or in all, or ten in a day. The owner was mailed, once in 24 hours.',
  },
  'account.recovery_codes_created': { fields: session, meaning: 'The user made new recovery codes.' },
  'account.trust_ended': { fields: session, meaning: 'The user ended the trust in a device.' },
  'recovery_code.used': {
    fields: ['user_id', 'recovery_codes_left'],
    meaning: 'A recovery code was the second factor.',
  },
  'second_factor.succeeded': {
    fields: ['user_id', 'method'],
    counts: { in: 'secondFactors' },
    meaning: 'A second factor was right, at a login or at a step-up; `method` is `totp`, `recovery_code` or `passkey`.',
  },
  'second_factor.failed': {
    outcome: 'failure',
    fields: user,
    reasons: { totp: '', recovery_code: '', passkey: '' },
    counts: { in: 'secondFactors' },
    meaning: 'A second factor was wrong, or was used before, at a login, at a step-up or when the user switched it on.',
  },
  'account.second_factor_removal_ordered': {
    fields: user,
    counts: { in: 'codes', as: 'confirmed', purpose: 'second_factor_removal' },
    meaning: "The removal of the second factor in 72 hours was ordered with a code from the account's mailbox.",
  },
  'account.second_factor_removal_stopped': {
    fields: ['user_id', 'session_id?'],
    meaning:
      'The ordered removal was stopped: by a session, by the token of its mail, or by an undo of a change of the email address.',
  },
  'account.exported': { fields: session, meaning: 'The user exported everything that is held of them.' },
  'account.password_reset': {
    fields: ['user_id', 'invites_revoked'],
    counts: { in: 'codes', as: 'confirmed', purpose: 'password_reset' },
    meaning:
      "The password was reset with a code from the account's mailbox; `invites_revoked` of its open invites ended. `session.revoked` follows for each session.",
  },
  'account.email_verified': {
    fields: user,
    counts: { in: 'codes', as: 'confirmed', purpose: 'email_verification' },
    meaning:
      'The email address was verified with a code from its mailbox. A reset, a login by a code and a change of the address verify it too, and are events of their own.',
  },
  'account.address_proved': {
    fields: ['user_id', 'invites_revoked'],
    meaning:
      'A login by a code verified the email address for the first time: the password is unusable, and `invites_revoked` open invites ended. `session.revoked` follows for each session.',
  },
  'passkey.added': { fields: [...session, 'passkey_id'], meaning: 'The user added a passkey.' },
  'passkey.renamed': { fields: [...session, 'passkey_id'], meaning: 'The user named a passkey, or removed its name.' },
  'passkey.removed': {
    fields: ['user_id', 'session_id?', 'passkey_id'],
    meaning:
      'The user removed a passkey; without `session_id` a recovery or an operator did, because somebody else may have added it.',
  },
  'passkey_proof.refused': {
    outcome: 'failure',
    fields: ['user_id?'],
    reasons: passkeyFaults,
    counts: { in: 'passkeyFaults', from: 'reason' },
    meaning: 'A passkey was refused, for a new one, a login, a link, a second factor or a step-up.',
  },
  'passkey.backup_eligible': {
    fields: ['user_id', 'passkey_id'],
    meaning: 'A passkey that stayed on its device can be copied to others of its owner from now on.',
  },
  'passkey.counter_fell': {
    fields: ['user_id', 'passkey_id'],
    meaning:
      'The signature was right, but its counter has not risen: the authenticator may have a copy. Nothing was refused.',
  },
  'identity.linked': { fields: [...session, 'identity_id', 'provider'], meaning: 'The user linked an identity.' },
  'identity.unlinked': {
    fields: ['user_id', 'session_id?', 'identity_id', 'provider'],
    meaning:
      'The user removed an identity; without `session_id` a recovery or an operator did, because somebody else may have added it, or the account at the provider was deleted.',
  },
  'provider_token.kept': {
    fields: ['user_id', 'identity_id', 'provider'],
    counts: { in: 'providerCodes' },
    meaning: 'The code of a login was exchanged for a token by which the consent at the provider is revoked later.',
  },
  'provider_token.refused': {
    outcome: 'failure',
    fields: ['user_id', 'identity_id', 'provider'],
    reasons: {
      unavailable: 'the provider did not answer in 3 s, or with an error',
      wrong_code: 'the provider did not take it',
      wrong_client:
        'the provider refused the key, team or client id of this service (`invalid_client`, `unauthorized_client`, 401); Apple says so of a wrong page too',
      wrong_page: 'the provider had sent it to another page than `redirect_uris` names',
      no_token: 'the answer had no refresh token',
      other_app: 'the answer was for another client id',
      other_person: 'it belongs to somebody else',
      not_stored: 'MongoDB did not answer',
      identity_gone: 'the identity was removed in between; its token waits for its revocation',
    },
    counts: { in: 'providerCodes', from: 'reason' },
    meaning: 'The code of a login brought no token. Nothing was refused, and the next login with a code tries again.',
  },
  'provider_notice.received': {
    fields: ['user_id?', 'identity_id?', 'provider', 'notice'],
    counts: { in: 'providerNotices', from: 'notice' },
    meaning:
      'A provider reported a security event about a person: `notice` says which. `user_id` is there if an account has the identity. `session.revoked` follows for each session that ends. A repeat is no event.',
  },
  'provider_notice.ignored': {
    outcome: 'failure',
    fields: ['user_id?', 'identity_id?', 'provider'],
    reasons: {
      unknown_event: 'its type',
      unknown_subject: 'it names no one person of this provider',
      surplus: 'it stood behind the tenth event of its token',
    },
    counts: { in: 'providerNotices', from: 'reason' },
    meaning: 'A security event was not understood: it was answered like any other, and nothing followed.',
  },
  'provider_notice.refused': {
    outcome: 'failure',
    fields: ['user_id?', 'identity_id?', 'provider'],
    reasons: {
      ...securityEventTokenFaults,
      too_many: 'ten of this identity took effect that day: it was answered like any other, and nothing followed',
    },
    sampled: [...Object.keys(securityEventTokenFaults), 'too_many'],
    counts: { in: 'providerNotices', from: 'reason' },
    meaning:
      'What came as a security event token of a provider was none, or was one too many. Then it has the account.',
  },
  'account.email_changed': {
    fields: session,
    counts: { in: 'codes', as: 'confirmed', purpose: 'email_change' },
    meaning: 'The user changed the email address. `session.revoked` follows for each other session.',
  },
  'account.email_change_undone': {
    fields: ['user_id', 'invites_revoked'],
    meaning:
      'The old email address undid a change: the password is unusable, and `invites_revoked` open invites ended. `session.revoked` follows for each session.',
  },
  'code.requested': {
    fields: ['user_id?', 'purpose'],
    counts: { in: 'codes' },
    meaning: 'A code by e-mail was asked for: `purpose` says for what. `user_id` is there if the account exists.',
  },
  'code.resent': { fields: ['user_id?', 'purpose'], counts: { in: 'codes' }, meaning: 'The same code was sent again.' },
  'code.confirmed': {
    fields: ['user_id', 'purpose'],
    counts: { in: 'codes' },
    meaning: 'A code of a purpose that has no event of its own was right: `step_up` or `login`.',
  },
  'code.failed': {
    outcome: 'failure',
    fields: ['user_id?', 'purpose'],
    reasons: {
      wrong: '',
      dead: 'five wrong ones, used, or ended by a change of password or email address',
      expired: '',
      unknown: 'no such challenge',
    },
    // `wrong` is not sampled, because a challenge allows only five wrong codes.
    sampled: ['dead', 'expired', 'unknown'],
    counts: { in: 'codes', from: 'reason' },
    meaning: 'A code was refused.',
  },
  'refresh.rotated': { fields: session, counts: { in: 'refreshes' }, meaning: 'A new refresh token was handed out.' },
  'refresh.converged': {
    fields: session,
    counts: { in: 'refreshes' },
    meaning:
      "A repeated or slower refresh got the token that had been handed out already, or MongoDB did not answer the refresh's own write: then there is no `refresh.rotated` for it.",
  },
  'refresh.expired': {
    outcome: 'failure',
    fields: ['user_id?', 'session_id?'],
    reasons: {
      expired: '',
      not_genuine: '',
      proof_missing: 'a bound session, and no `DPoP` header',
      proof_wrong: 'a bound session, and a header that is no proof for this refresh',
      proof_of_other_key: 'a bound session, and the key of another device: a copied token or a restored backup',
    },
    sampled: ['not_genuine'],
    counts: [{ in: 'refreshes' }, { in: 'refreshesExpired', from: 'reason' }],
    meaning:
      'A refresh token was too old, was not made by this service, or came without proof of the key to which its session is bound (the session lives on). The session is named if the token was genuine.',
  },
  'refresh.revoked': {
    outcome: 'failure',
    fields: session,
    counts: { in: 'refreshes' },
    meaning:
      "A refresh token of a session that was revoked before. The session's `session.revoked` or `logout.succeeded` says why, unless the request that ended it got 503.",
  },
  'refresh.stolen': {
    outcome: 'failure',
    fields: session,
    counts: { in: 'refreshes' },
    meaning:
      'A refresh token that was revoked already: two parties hold tokens of this session. `session.revoked` follows.',
  },
  'refresh.abandoned': {
    outcome: 'failure',
    fields: session,
    counts: { in: 'refreshes' },
    meaning:
      'A refresh token that was revoked already, but the sender disconnected before that was found. The session lives on. An app that repeats a request does this now and then; many for one session do not come from an app.',
  },
  'logout.succeeded': {
    fields: session,
    counts: { in: 'sessionsEnded', as: 'logout' },
    meaning: 'The user ended a session; `session_id` is the one that ended.',
  },
  'logout.all': {
    fields: session,
    meaning:
      'The user ended all sessions, or all others; `session_id` is the one that asked. `session.revoked` follows for each.',
  },
  'session.revoked': {
    fields: session,
    reasons: {
      logout: '',
      replaced: 'a newer login on the device',
      session_limit: '',
      refresh_token_reuse: '',
      revoked_by_user: '',
      revoked_by_provider: 'a security event',
      password_changed: '',
      account_deleted: '',
    },
    elsewhere: { forced: 'by the worker, without `address`', account_disabled: 'by an operator' },
    counts: { in: 'sessionsEnded', from: 'reason' },
    meaning: 'A session was revoked.',
  },
  'group.joined': {
    fields: group,
    counts: { in: 'groupChanges' },
    meaning: 'A user moved into the group by an invite. A registration by invite is an `account.registered`.',
  },
  'group.left': {
    fields: group,
    counts: { in: 'groupChanges' },
    meaning: 'The user left the group, or moved out of it by an invite (`group.joined` follows).',
  },
  'group.removed': {
    fields: [...group, 'removed_by'],
    counts: { in: 'groupChanges' },
    meaning: 'The owner (`removed_by`, whose session it names) removed the user from the group.',
  },
  'group.renamed': { fields: group, meaning: 'The owner named the group, or removed its name.' },
  'group.owner_changed': {
    fields: ['user_id', 'home_group_id', 'handed_over_by?', 'session_id?'],
    counts: { in: 'groupChanges' },
    meaning: 'The owner left, or handed the group over (`handed_over_by`); `user_id` is the new one.',
  },
  'group.closed': {
    fields: ['user_id', 'home_group_id'],
    counts: { in: 'groupChanges' },
    meaning: 'The group was closed by its last member, `user_id`; its invites are revoked.',
  },
  'invite.created': {
    fields: group,
    meaning: 'The owner created an invite. A replay by `Idempotency-Key` is no event.',
  },
  'invite.revoked': {
    fields: group,
    meaning:
      'The owner revoked an invite that was valid, or removed the member whom it had brought (after `group.removed`). Invites that end with their group are in `group.closed`.',
  },
  'authorization.failed': {
    outcome: 'failure',
    fields: ['user_id?', 'session_id?', 'route?'],
    reasons: { ...plain(authorizationCodes), 'ERR-INVALID-CREDENTIALS': 'the secret of an internal service' },
    elsewhere: { 'ERR-STREAM-SESSION-MISMATCH': 'at the gateway' },
    sampled: authorizationCodes,
    // These events are common and come from everywhere, because apps wake up with expired tokens. Samples by network
    // would fill the log and the sampler.
    sampledTogether: ['IAD_JWT_ACCESS_EXPIRED'],
    counts: { in: 'authorizationFailures', from: 'reason' },
    meaning:
      "A route that needs authorization answered 401 or 403, or an open stream refused the token of an `auth` frame. User and session are named if the token was genuine: expired, of a session that has ended or changed groups, or without the right to do this. For a frame the session is the stream's, and there is neither `address` nor `request_id`.",
  },
  'limit.exceeded': {
    outcome: 'failure',
    fields: ['user_id?', 'account?'],
    reasons: plain(limitRules),
    elsewhere: { handshake_address: 'at the gateway' },
    sampled: limitRules,
    counts: { in: 'rateLimited', from: 'reason' },
    meaning:
      'A request was refused with 429 by a [limit](./specification/requests.md#limits). `user_id` is there if the api had read the account; for logins and codes `account`, a pseudonym of the email address, which `authctl user show` prints too.',
  },
} as const satisfies Record<string, AuditRow>;

export type AuditEventName = keyof typeof auditEvents;

/** One event, by its name. */
export type AuditEvent = { [E in AuditEventName]: EventOf<E, (typeof auditEvents)[E]> }[AuditEventName];

/** Reason why the right password opens no session. */
export type LoginRefusal = keyof (typeof auditEvents)['login.refused']['reasons'];
