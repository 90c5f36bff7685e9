import { type AccountEventOf, type AuthEvent, type Locale, mailTopics } from '@auth-account/contracts/events';
import { emailUndoSeconds } from '@auth-account/contracts/http/email-change';
import { emailKey, type PresentUser, type Stores } from '@auth-account/stores';
import { challengeState } from '@auth-account/stores/challenges';
import type { EmailCodes, UndoTokens } from '@auth-account/tokens';
import type { MailPurpose, MailValues } from './mail-templates.ts';

export type MailEvent = CodeRequest | Notice;
type CodeRequest = AccountEventOf<'service.auth.events.code_requested'>;
type Notice = AccountEventOf<'service.auth.events.notice'>;

/** Returns true if the event is sent as a mail. */
export function isMailed(event: AuthEvent): event is MailEvent {
  return mailTopics.some((topic) => topic === event.type);
}

/** Recipient and content of a mail. It exists in memory only. */
export interface Letter {
  readonly to: string;
  readonly purpose: MailPurpose;
  readonly locale: Locale;
  readonly values: MailValues;
}

type Find = 'find' | 'findConfirmed';

/** Adds email address, language and code to an event. */
export type ReadMail = (event: MailEvent) => Promise<Letter | undefined>;

export interface ReadMailDeps {
  readonly users: Pick<Stores['users'], 'find' | 'findConfirmed'>;
  readonly challenges: Pick<Stores['challenges'], 'find' | 'findConfirmed'>;
  readonly emailCodes: EmailCodes;
  readonly emailChangeTokens: Pick<UndoTokens, 'issue'>;
  readonly removalStopTokens: Pick<UndoTokens, 'issue'>;
  readonly now: () => Date;
}

/**
 * Adds email address, language and code to an event, as MongoDB and the server's keys have them now; a notification
 * goes to the address of its time. It returns undefined if there is no recipient or no content any more, because the
 * account is erased, the code was used, the relay of the address is off, the change of the email address can no longer
 * be undone, or the removal of the second factor was stopped. It confirms this with a majority first, because a dropped
 * mail is not sent again. Throws if another process derived the code from a key that this process does not have yet.
 * Throws the driver's error if the majority lags.
 */
export function createReadMail(deps: ReadMailDeps): ReadMail {
  const { users, challenges, emailCodes, emailChangeTokens, removalStopTokens, now } = deps;

  async function codeLetter({ data }: CodeRequest, user: PresentUser, find: Find): Promise<Letter | undefined> {
    const { challenge_id, purpose, provider = '', expires_at } = data;
    const to = purpose === 'email_change' ? user.pending_email : user.email;
    const challenge = await challenges[find]({ _id: challenge_id, purpose });
    const at = now();
    if (to === undefined || challenge?.user_id !== user._id || challengeState(challenge, at) !== 'open') return;
    const { kid } = challenge;
    if (!emailCodes.hasKey(kid)) await emailCodes.rereadKeys();
    const code = emailCodes.codeOf({
      ...{ kid, challengeId: challenge_id, purpose, userId: user._id, emailKey: emailKey(to) },
    });
    const minutes = Math.max(1, Math.ceil((Date.parse(expires_at) - at.getTime()) / 60_000));
    const locale = user.locale ?? data.locale;
    const values = { code, minutes: String(minutes), email: to, provider: nameOf(provider) };
    return { to, purpose, locale, values };
  }

  function notificationLetter({ data, time }: Notice, user: PresentUser): Letter | undefined {
    const {
      purpose,
      email_change_id,
      removal_id,
      deletes_at,
      due_at,
      invites_revoked = 0,
      recovery_codes_left = 0,
      provider = '',
    } = data;
    const locale = user.locale ?? data.locale;
    const former = user.former_emails?.find(({ change_id }) => change_id === email_change_id);
    const to = purpose === 'email_changed' ? former?.email : addressAt(user, Date.parse(time));
    if (to === undefined || (removal_id !== undefined && user.totp?.removal?.id !== removal_id)) return;
    const undo = former === undefined ? {} : { undo_token: emailChangeTokens.issue(former.change_id) };
    const stop = removal_id === undefined ? {} : { stop_token: removalStopTokens.issue(removal_id) };
    const end = {
      ...(deletes_at !== undefined && { deletes_at: spellTime(deletes_at, locale) }),
      ...(due_at !== undefined && { due_at: spellTime(due_at, locale) }),
    };
    const counts = { invites_revoked: String(invites_revoked), recovery_codes_left: String(recovery_codes_left) };
    const values = { email: to, time: spellTime(time, locale), provider: nameOf(provider), ...counts };
    return { to, purpose, locale, values: { ...values, ...undo, ...stop, ...end } };
  }

  async function letterOf(event: MailEvent, find: Find): Promise<Letter | undefined> {
    const user = await users[find](event.data.user_id);
    if (user === undefined) return;
    const isNotification = event.type === 'service.auth.events.notice';
    const letter = isNotification ? notificationLetter(event, user) : await codeLetter(event, user, find);
    return letter && isRelayOff(user, letter.to) ? undefined : letter;
  }

  return async (event) => (await letterOf(event, 'find')) ?? letterOf(event, 'findConfirmed');
}

/**
 * Returns the email address that the account had at that time, as long as its change can be undone. A thief who changes
 * the address while mails are late must not get the notification of what came before.
 */
function addressAt({ email, former_emails = [] }: PresentUser, at: number): string {
  return former_emails.find(({ until }) => until.getTime() - emailUndoSeconds * 1_000 > at)?.email ?? email;
}

/** Returns the provider's name as people know it. */
function nameOf(provider: string): string {
  return provider.charAt(0).toUpperCase() + provider.slice(1);
}

/** Returns true if the email address is a relay of a provider that forwards no mail any more. */
function isRelayOff({ identities = [] }: PresentUser, to: string): boolean {
  return identities.some(({ email, relay_off_at }) => relay_off_at && email && emailKey(email) === emailKey(to));
}

function spellTime(timestamp: string, locale: Locale): string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return `${format.format(new Date(timestamp))} UTC`;
}
