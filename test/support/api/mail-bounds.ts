import type { CodePurpose, NotificationPurpose } from '@auth-account/contracts/events';
import type { LimitRule, LimitSettings } from '../../../services/api/src/limits/limits-table.ts';

/** The settings on which the bounds depend. */
export type MailSettings = Pick<
  LimitSettings,
  | 'CODE_LIMIT_PER_ACCOUNT'
  | 'PASSWORD_CHANGE_LIMIT_PER_USER'
  | 'DELETION_LIMIT_PER_USER'
  | 'FACTOR_CHANGE_LIMIT_PER_USER'
  | 'PASSKEY_ADD_LIMIT_PER_USER'
  | 'IDENTITY_ADD_LIMIT_PER_USER'
>;

/** Bound for the mails of one kind that an account gets in a day. */
export interface MailBound {
  /** Returns the number of mails by the settings of the limits. */
  max(settings: MailSettings): number;
  /** The rule that bounds what causes the mail, or the state of the account that does. */
  readonly by: { readonly rule: LimitRule } | { readonly state: string };
  /** The rest of the docs' sentence. */
  readonly more?: string;
}

/** Most passkeys, identities and recovery codes of an account, as the api has them. */
const [passkeys, identities, lastCodes] = [20, 10, 3];
/**
 * Counts of codes for an account whose devices all ask: unknown ones, known ones, and a device and network that stay.
 */
const codeCounts = 4;

/** All purposes of codes share their counts. */
const code: MailBound = {
  max: ({ CODE_LIMIT_PER_ACCOUNT }) => codeCounts * CODE_LIMIT_PER_ACCOUNT,
  by: { rule: 'code_account' },
  more: ', all purposes together, each code up to four times',
};
const factor: MailBound = {
  max: ({ FACTOR_CHANGE_LIMIT_PER_USER: max }) => max,
  by: { rule: 'factor_account' },
  more: ', on, off and new recovery codes together',
};
const deletion: MailBound = { max: ({ DELETION_LIMIT_PER_USER: max }) => max, by: { rule: 'deletion_account' } };
const removal: MailBound = { ...code, more: ', because each order takes a code from the mailbox' };

/**
 * The bound of each kind of mail. The types of the events are the source: a new purpose does not compile without its
 * row here, nor without what floods it in `test/contract/mail-bounds.test.ts`. What operators do is not counted.
 */
export const mailBounds: Readonly<Record<CodePurpose | NotificationPurpose, MailBound>> = {
  email_verification: code,
  password_reset: code,
  email_change: code,
  account_deletion: code,
  step_up: code,
  second_factor_removal: code,
  login: code,
  identity_link: code,
  new_device: { max: () => 10, by: { state: 'the times of the latest ten' } },
  password_changed: {
    max: (settings) => settings.PASSWORD_CHANGE_LIMIT_PER_USER + code.max(settings),
    by: { rule: 'password_account' },
    more: ', and one for each code that resets it',
  },
  password_guessed: { max: () => 1, by: { state: 'the time of the latest' } },
  email_changed: {
    max: ({ CODE_LIMIT_PER_ACCOUNT: max }) => max,
    by: { rule: 'code_account' },
    more: ', to the old email address, and to each only once in three days',
  },
  deletion_scheduled: deletion,
  deletion_cancelled: { ...deletion, more: ', because each cancels an order' },
  address_in_use: { max: ({ CODE_LIMIT_PER_ACCOUNT: max }) => max, by: { rule: 'code_recipient' } },
  second_factor_on: factor,
  second_factor_off: factor,
  second_factor_guessed: { max: () => 1, by: { state: 'the time of the latest' } },
  second_factor_removal_ordered: removal,
  second_factor_removal_stopped: removal,
  recovery_codes: {
    max: ({ FACTOR_CHANGE_LIMIT_PER_USER: sets }) => sets + lastCodes * (sets + 1),
    by: { rule: 'factor_account' },
    more: ', and for each set the use of its last three',
  },
  passkey_added: { max: ({ PASSKEY_ADD_LIMIT_PER_USER: max }) => max, by: { rule: 'passkey_account' } },
  passkey_removed: {
    max: ({ PASSKEY_ADD_LIMIT_PER_USER: added }) => passkeys + added,
    by: { rule: 'passkey_account' },
    more: ', and the 20 that it may have had',
  },
  identity_linked: { max: ({ IDENTITY_ADD_LIMIT_PER_USER: max }) => max, by: { rule: 'identity_account' } },
  identity_unlinked: {
    max: ({ IDENTITY_ADD_LIMIT_PER_USER: linked }) => identities + linked,
    by: { rule: 'identity_account' },
    more: ', and the ten that it may have had',
  },
  provider_notice: {
    max: ({ IDENTITY_ADD_LIMIT_PER_USER: linked }) => identities + linked,
    by: { state: 'one for each identity' },
  },
};
