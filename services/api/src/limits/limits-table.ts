import * as Type from '@auth-account/contracts/type';
import { ownTotal, sharedTotal } from '@auth-account/redis';

/** A limit on the requests within a window, which begins with its first request. */
export interface RequestLimitRow {
  /** The rule's name in the audit log and in a label of `auth_rate_limited_total`. */
  readonly rule: string;
  /** The environment variable that sets the limit. */
  readonly setting: string;
  readonly default: number;
  /** The first words of the docs' sentence, followed by `per` and `window`. */
  readonly counts: string;
  /**
   * The unit that has a count of its own, such as a network (IPv4 /32 or IPv6 /64) or an account (id or email address).
   */
  readonly per: 'network' | 'account' | 'e-mail address' | 'session' | 'internal service';
  readonly window: { readonly seconds: number; readonly text: string };
  /** The rest of the docs' sentence, with its comma. */
  readonly more?: string;
  /** Part of the limit's keys in Redis. */
  readonly key: string;
  /**
   * True if a recovery of the account begins the count anew, because a thief may have used it up. Limits of an account
   * whose requests read no account have none.
   */
  readonly isGivenBack?: boolean;
  /** True if requests are counted in the process first, and in Redis a moment later. */
  readonly isSettled?: boolean;
}

const minute = { seconds: 60, text: 'a minute' };
const hour = { seconds: 3_600, text: 'an hour' };
const day = { seconds: 86_400, text: '24 hours' };

/**
 * Limits on requests, by the names that use cases call: `limits.register(origin)`. Setting, rule, counter and docs all
 * come from the row.
 */
export const requestLimits = {
  register: {
    rule: 'register_address',
    setting: 'REGISTER_LIMIT_PER_ADDRESS',
    default: 100,
    counts: 'registrations',
    per: 'network',
    window: hour,
    more: ', replays too',
    key: 'register',
  },
  /** Counted in the first step of a login. */
  logIn: {
    rule: 'login_address',
    setting: 'LOGIN_LIMIT_PER_ADDRESS',
    default: 300,
    counts: 'logins',
    per: 'network',
    window: { seconds: 15 * 60, text: '15 minutes' },
    more: ', successful or not',
    key: 'login',
  },
  logInByPasskey: {
    rule: 'passkey_address',
    setting: 'PASSKEY_LIMIT_PER_ADDRESS',
    default: 300,
    counts: 'logins by passkey',
    per: 'network',
    window: { seconds: 15 * 60, text: '15 minutes' },
    more: ', successful or not',
    key: 'passkey',
  },
  logInByProvider: {
    rule: 'provider_address',
    setting: 'PROVIDER_LIMIT_PER_ADDRESS',
    default: 300,
    counts: 'logins and links by a provider',
    per: 'network',
    window: { seconds: 15 * 60, text: '15 minutes' },
    more: ', successful or not',
    key: 'provider',
  },
  receiveSecurityEvents: {
    rule: 'notice_address',
    setting: 'NOTICE_LIMIT_PER_ADDRESS',
    default: 6_000,
    counts: 'security events of providers',
    per: 'network',
    window: minute,
    more: ', genuine or not',
    key: 'notice',
  },
  refresh: {
    rule: 'refresh_address',
    setting: 'REFRESH_LIMIT_PER_ADDRESS',
    default: 6_000,
    counts: 'refreshes',
    per: 'network',
    window: minute,
    more: '; from 1,000 on each api may admit 1 % more',
    key: 'refresh',
    isSettled: true,
  },
  findInvite: {
    rule: 'invite_address',
    setting: 'INVITE_LIMIT_PER_ADDRESS',
    default: 600,
    counts: 'reads of invites without a login',
    per: 'network',
    window: minute,
    key: 'invite',
  },
  createInvite: {
    rule: 'invite_account',
    setting: 'INVITE_CREATE_LIMIT_PER_USER',
    default: 100,
    counts: 'attempts to create an invite',
    per: 'account',
    window: hour,
    more: ', without replays',
    key: 'create-invite',
  },
  /** Moves by leaving a group or by accepting an invite. */
  move: {
    rule: 'move_account',
    setting: 'MOVE_LIMIT_PER_USER',
    default: 30,
    counts: 'attempts to change the group',
    per: 'account',
    window: hour,
    key: 'move',
  },
  /** Counted by session, so that the thief of one session cannot use up the limit of the owner's other sessions. */
  write: {
    rule: 'write_session',
    setting: 'WRITE_LIMIT_PER_SESSION',
    default: 60,
    counts: 'writes',
    per: 'session',
    window: minute,
    more: ' that no other limit counts',
    key: 'write',
  },
  changePassword: {
    rule: 'password_account',
    setting: 'PASSWORD_CHANGE_LIMIT_PER_USER',
    default: 5,
    counts: 'attempts to change the password',
    per: 'account',
    window: day,
    more: ', with the right password',
    key: 'password-change',
    isGivenBack: true,
  },
  /** Removals have no such limit: a thief must not use it up, and so keep a passkey. */
  addPasskey: {
    rule: 'passkey_account',
    setting: 'PASSKEY_ADD_LIMIT_PER_USER',
    default: 10,
    counts: 'attempts to add a passkey',
    per: 'account',
    window: day,
    more: ', with a right credential',
    key: 'passkey-add',
    isGivenBack: true,
  },
  /** Removals have no such limit, as those of passkeys have none. */
  addIdentity: {
    rule: 'identity_account',
    setting: 'IDENTITY_ADD_LIMIT_PER_USER',
    default: 10,
    counts: 'attempts to link an identity',
    per: 'account',
    window: day,
    more: ', with a right token',
    key: 'identity-add',
    isGivenBack: true,
  },
  /** Each change ends open codes and is mailed, so a thief must not repeat it at will. */
  changeFactor: {
    rule: 'factor_account',
    setting: 'FACTOR_CHANGE_LIMIT_PER_USER',
    default: 10,
    counts: 'changes of the second factor or of its recovery codes',
    per: 'account',
    window: day,
    key: 'factor-change',
    isGivenBack: true,
  },
  orderDeletion: {
    rule: 'deletion_account',
    setting: 'DELETION_LIMIT_PER_USER',
    default: 5,
    counts: 'orders to delete the account',
    per: 'e-mail address',
    window: day,
    more: ', by password or code; a repeated order does not count',
    key: 'deletion',
    isGivenBack: true,
  },
  exportAccount: {
    rule: 'export_account',
    setting: 'EXPORT_LIMIT_PER_USER',
    default: 5,
    counts: 'exports',
    per: 'account',
    window: hour,
    more: ', with the right password',
    key: 'export',
    isGivenBack: true,
  },
  /** Counted before anything about an account is read. */
  askForCode: {
    rule: 'code_address',
    setting: 'CODE_LIMIT_PER_ADDRESS',
    default: 20,
    counts: 'requests for a code by e-mail',
    per: 'network',
    window: hour,
    key: 'code',
  },
  tryCode: {
    rule: 'code_try_address',
    setting: 'CODE_TRY_LIMIT_PER_ADDRESS',
    default: 600,
    counts: 'confirmations and resends of codes',
    per: 'network',
    window: minute,
    more: ', right or not',
    key: 'code-try',
  },
  readRevocations: {
    rule: 'revocation_sibling',
    setting: 'REVOCATION_LIMIT_PER_SIBLING',
    default: 30_000,
    counts: 'questions about revocations',
    per: 'internal service',
    window: minute,
    more: ', all its processes together; each 500 denials in an answer count as one more',
    key: 'revocations',
  },
} as const satisfies Record<string, RequestLimitRow>;

/** A rule with an algorithm of its own. */
export interface SpecialLimitRow {
  /** Page of `docs/specification/` that describes the rule. */
  readonly page: 'login-and-tokens.md' | 'account.md' | 'sign-in.md';
  readonly counts: string;
  /** The limit as the docs state it. A setting's name in braces stands for the setting's default. */
  readonly limit: string;
  readonly settings: Readonly<Record<string, Type.TInteger>>;
}

interface Range {
  readonly minimum?: number;
  readonly maximum?: number;
}

const integer = (number: number, range: Range, description: string) =>
  Type.Integer({ minimum: 1, ...range, default: number, description });

/** Limit of NIST SP 800-63B-4, section 3.2.2, for the failures of one account. */
const nistFailures = 100;

const total = `${sharedTotal}, and ${ownTotal} each for such a device, its session and its network`;

/** Rules on wrong passwords and on codes for one account. Each of them uses more than one count. */
export const specialLimits = {
  login_source: {
    page: 'login-and-tokens.md',
    counts: 'from one network or known device',
    limit:
      '{LOGIN_FREE_FAILURES} are free, then a pause of 1 s, 2 s, 4 s … {LOGIN_LONGEST_DELAY_SECONDS} s. Forgotten after an hour without a failure',
    settings: {
      LOGIN_FREE_FAILURES: integer(
        5,
        { maximum: 15 },
        'Wrong passwords for one account from one network or known device before the next try has to wait: 1 s, doubled each time',
      ),
      LOGIN_LONGEST_DELAY_SECONDS: integer(
        900,
        { minimum: 60, maximum: 86_400 },
        'Longest wait after `LOGIN_FREE_FAILURES`, in seconds',
      ),
    },
  },
  login_account: {
    page: 'login-and-tokens.md',
    counts: 'from all unknown devices and networks',
    limit: '{LOGIN_ACCOUNT_FREE_FAILURES} are free, then 1 s, 2 s … {LOGIN_ACCOUNT_LONGEST_DELAY_SECONDS} s',
    settings: {
      LOGIN_ACCOUNT_FREE_FAILURES: integer(
        20,
        {},
        'Wrong passwords for one account from all unknown networks and devices together before the next such try has to wait',
      ),
      LOGIN_ACCOUNT_LONGEST_DELAY_SECONDS: integer(
        30,
        { maximum: 3_600 },
        'Longest wait after `LOGIN_ACCOUNT_FREE_FAILURES`, in seconds',
      ),
    },
  },
  login_account_day: {
    page: 'login-and-tokens.md',
    counts: 'from all unknown devices and networks together, and from each known one for itself, in 24 hours',
    limit: '{LOGIN_ACCOUNT_FAILURES_PER_DAY} for unknown ones, {LOGIN_KNOWN_FAILURES_PER_DAY} for each known one',
    settings: {
      LOGIN_ACCOUNT_FAILURES_PER_DAY: integer(
        nistFailures,
        { maximum: nistFailures },
        'Wrong passwords for one account in 24 hours from all unknown networks and devices together',
      ),
      LOGIN_KNOWN_FAILURES_PER_DAY: integer(
        20,
        { maximum: nistFailures },
        'Wrong passwords for one account in 24 hours from each network or device that has logged in to it before',
      ),
    },
  },
  login_account_overall: {
    page: 'login-and-tokens.md',
    counts:
      'from everywhere, on all paths, until a right one from a device that has shown the password before, or a reset',
    limit: total,
    settings: {},
  },
  second_factor: {
    page: 'sign-in.md',
    counts:
      'wrong second factors of one account: in 15 minutes from all unknown devices and networks together, and from each known one for itself; from everywhere and on all paths until a right one from a device that holds something, or a recovery',
    limit: `5 each; ${total}`,
    settings: {},
  },
  code_account: {
    page: 'account.md',
    counts:
      'in any 24 hours, all purposes together: codes for one account from all unknown devices and networks; from all known ones and sessions; and, once the email address is verified, from each one that [stays](./login-and-tokens.md#who-is-known). Changes of the email address: one count for each account',
    limit: '{CODE_LIMIT_PER_ACCOUNT} each',
    settings: {
      CODE_LIMIT_PER_ACCOUNT: integer(
        5,
        { maximum: 100 },
        'Codes by e-mail for one account in 24 hours: for all unknown networks and devices together, for all known ones, and for each device or network of the registration or of an earlier code; also those of all accounts that want to change to one and the same email address',
      ),
    },
  },
  code_recipient: {
    page: 'account.md',
    counts: 'in any 24 hours: codes of all accounts for a change to one email address, taken or free',
    limit: '{CODE_LIMIT_PER_ACCOUNT}',
    settings: {},
  },
  code_resend: { page: 'account.md', counts: 'resends of one code, 60 s apart', limit: '3', settings: {} },
} as const satisfies Record<string, SpecialLimitRow>;

type RequestLimit = (typeof requestLimits)[keyof typeof requestLimits];
type SpecialSetting<Row> = Row extends SpecialLimitRow ? keyof Row['settings'] : never;

export type LimitRule = RequestLimit['rule'] | keyof typeof specialLimits;

/** All rules that refuse a request with 429. */
export const limitRules: readonly LimitRule[] = [
  ...Object.values(requestLimits).map(({ rule }) => rule),
  ...(Object.keys(specialLimits) as (keyof typeof specialLimits)[]),
];

/** The settings of all limits, as the api reads them. */
export type LimitSettings = Readonly<
  Record<RequestLimit['setting'] | SpecialSetting<(typeof specialLimits)[keyof typeof specialLimits]>, number>
>;

const prepositions = {
  network: 'from',
  'e-mail address': 'of',
  account: 'by',
  session: 'by',
  'internal service': 'by',
};

/** Returns the sentence of the docs: "registrations from one network in an hour, replays too". */
export function describeLimit({ counts, per, window, more = '' }: RequestLimitRow, prefixes = ''): string {
  return `${counts} ${prepositions[per]} one ${per}${per === 'network' ? prefixes : ''} in ${window.text}${more}`;
}

function schemaOf(row: RequestLimitRow): Type.TInteger {
  const text = describeLimit(row, ' (IPv4 /32, IPv6 /64)');
  return integer(row.default, {}, text.charAt(0).toUpperCase() + text.slice(1));
}

/** Schemas of the settings. The api's configuration includes them. */
export const limitConfig = Object.assign(
  Object.fromEntries(Object.values(requestLimits).map((row) => [row.setting, schemaOf(row)])),
  ...Object.values(specialLimits).map(({ settings }) => settings),
) as Readonly<Record<keyof LimitSettings, Type.TInteger>>;
