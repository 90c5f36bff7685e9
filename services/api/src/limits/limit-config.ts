import { type Static, Type } from 'typebox';

/** NIST SP 800-63B-4, section 3.2.2: no more failures than this for one account. */
const nistFailures = 100;

/** The limits on tries. The api's schema spreads it. */
export const limitConfig = {
  REGISTER_LIMIT_PER_ADDRESS: Type.Integer({
    minimum: 1,
    default: 100,
    description: 'Registrations from one address (IPv4 /32, IPv6 /64) an hour',
  }),
  REFRESH_LIMIT_PER_ADDRESS: Type.Integer({
    minimum: 1,
    default: 6_000,
    description: 'Refreshes from one address (IPv4 /32, IPv6 /64) a minute. From 1,000 on each api may admit 1 % more',
  }),
  INVITE_LIMIT_PER_ADDRESS: Type.Integer({
    minimum: 1,
    default: 600,
    description: 'Reads of invites without a login, from one address (IPv4 /32, IPv6 /64) a minute',
  }),
  INVITE_CREATE_LIMIT_PER_USER: Type.Integer({
    minimum: 1,
    default: 100,
    description: 'Invites that one account creates or tries to create an hour',
  }),
  MOVE_LIMIT_PER_USER: Type.Integer({
    minimum: 1,
    default: 30,
    description: 'Changes of group that one account makes or tries to make an hour',
  }),
  EXPORT_LIMIT_PER_USER: Type.Integer({
    minimum: 1,
    default: 5,
    description: 'Exports that one account asks for an hour, with the right password',
  }),
  WRITE_LIMIT_PER_SESSION: Type.Integer({
    minimum: 1,
    default: 60,
    description:
      'Writes of one session a minute that have no other limit: changes of the account, the group and its members, and ends of sessions',
  }),
  PASSWORD_CHANGE_LIMIT_PER_USER: Type.Integer({
    minimum: 1,
    default: 5,
    description: 'Changes of the password that one account makes or tries to make a day, with the right password',
  }),
  DELETION_LIMIT_PER_USER: Type.Integer({
    minimum: 1,
    default: 5,
    description:
      'Orders to delete one account a day, with its password or a code. One that repeats an order is not counted',
  }),
  CODE_LIMIT_PER_ADDRESS: Type.Integer({
    minimum: 1,
    default: 20,
    description: 'Codes by e-mail that one address (IPv4 /32, IPv6 /64) asks for an hour',
  }),
  CODE_LIMIT_PER_ACCOUNT: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 5,
    description:
      'Codes by e-mail for one account in 24 hours: for all unknown addresses and devices together, for all known ones, and for each place of the registration or of an earlier code; also those of all accounts that want to change to one and the same e-mail address',
  }),
  CODE_TRY_LIMIT_PER_ADDRESS: Type.Integer({
    minimum: 1,
    default: 600,
    description:
      'Codes that one address (IPv4 /32, IPv6 /64) confirms, or asks to be sent again, a minute, right or not',
  }),
  REVOCATION_LIMIT_PER_SIBLING: Type.Integer({
    minimum: 1,
    default: 30_000,
    description:
      'Questions about revocations that one sibling asks a minute, with all its processes. 500 denials in an answer count as one more',
  }),
  LOGIN_LIMIT_PER_ADDRESS: Type.Integer({
    minimum: 1,
    default: 300,
    description: 'Logins from one address (IPv4 /32, IPv6 /64) in 15 minutes, successful or not',
  }),
  LOGIN_FREE_FAILURES: Type.Integer({
    minimum: 1,
    maximum: 15,
    default: 5,
    description:
      'Wrong passwords for one account from one address or known device before the next try has to wait: 1 s, doubled each time',
  }),
  LOGIN_LONGEST_DELAY_SECONDS: Type.Integer({
    minimum: 60,
    maximum: 86_400,
    default: 900,
    description: 'Longest wait after `LOGIN_FREE_FAILURES`, in seconds',
  }),
  LOGIN_ACCOUNT_FREE_FAILURES: Type.Integer({
    minimum: 1,
    default: 20,
    description:
      'Wrong passwords for one account from all unknown addresses and devices together before the next such try has to wait',
  }),
  LOGIN_ACCOUNT_LONGEST_DELAY_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 3_600,
    default: 30,
    description: 'Longest wait after `LOGIN_ACCOUNT_FREE_FAILURES`, in seconds',
  }),
  LOGIN_ACCOUNT_FAILURES_PER_DAY: Type.Integer({
    minimum: 1,
    maximum: nistFailures,
    default: nistFailures,
    description: 'Wrong passwords for one account in 24 hours from all unknown addresses and devices together',
  }),
  LOGIN_KNOWN_FAILURES_PER_DAY: Type.Integer({
    minimum: 1,
    maximum: nistFailures,
    default: 20,
    description:
      'Wrong passwords for one account in 24 hours from each address or device that has logged in to it before',
  }),
};

const schema = Type.Object(limitConfig);

/** Returns the rules as configured. */
export function limitRulesOf(config: Static<typeof schema>): LimitRules {
  return {
    registerPerAddress: config.REGISTER_LIMIT_PER_ADDRESS,
    refreshPerAddress: config.REFRESH_LIMIT_PER_ADDRESS,
    findInvitePerAddress: config.INVITE_LIMIT_PER_ADDRESS,
    createInvitePerUser: config.INVITE_CREATE_LIMIT_PER_USER,
    movePerUser: config.MOVE_LIMIT_PER_USER,
    exportPerUser: config.EXPORT_LIMIT_PER_USER,
    writePerSession: config.WRITE_LIMIT_PER_SESSION,
    passwordChangePerUser: config.PASSWORD_CHANGE_LIMIT_PER_USER,
    deletionPerUser: config.DELETION_LIMIT_PER_USER,
    codePerAddress: config.CODE_LIMIT_PER_ADDRESS,
    codePerAccount: config.CODE_LIMIT_PER_ACCOUNT,
    codeTryPerAddress: config.CODE_TRY_LIMIT_PER_ADDRESS,
    revocationsPerSibling: config.REVOCATION_LIMIT_PER_SIBLING,
    login: {
      perAddress: config.LOGIN_LIMIT_PER_ADDRESS,
      freeFailures: config.LOGIN_FREE_FAILURES,
      longestDelaySeconds: config.LOGIN_LONGEST_DELAY_SECONDS,
      accountFreeFailures: config.LOGIN_ACCOUNT_FREE_FAILURES,
      accountLongestDelaySeconds: config.LOGIN_ACCOUNT_LONGEST_DELAY_SECONDS,
      accountFailuresPerDay: config.LOGIN_ACCOUNT_FAILURES_PER_DAY,
      knownFailuresPerDay: config.LOGIN_KNOWN_FAILURES_PER_DAY,
    },
  };
}

/** Limits on guessing passwords. */
export interface LoginRules {
  /** Tries of one network within the window. */
  readonly perAddress: number;
  /** Failures for an account from one device or network before each further one delays the next try. */
  readonly freeFailures: number;
  readonly longestDelaySeconds: number;
  /** The same for an account, over all devices and networks that it does not know. */
  readonly accountFreeFailures: number;
  readonly accountLongestDelaySeconds: number;
  /** Failures for an account within 24 hours, over all devices and networks that it does not know. */
  readonly accountFailuresPerDay: number;
  /** Failures within 24 hours for each known device or network, that is, one with a successful login. */
  readonly knownFailuresPerDay: number;
}

/** All configured limits. */
export interface LimitRules {
  /** Registrations of one network within an hour. */
  readonly registerPerAddress: number;
  /** Refreshes of one network within a minute. */
  readonly refreshPerAddress: number;
  /** Reads of invites by one network within a minute. */
  readonly findInvitePerAddress: number;
  /** Invites that one account creates within an hour. */
  readonly createInvitePerUser: number;
  /** Changes of group of one account within an hour. */
  readonly movePerUser: number;
  /** Exports that one account asks for within an hour. */
  readonly exportPerUser: number;
  /** Writes of one session within a minute that have no other limit. */
  readonly writePerSession: number;
  /** Changes of the password of one account within a day, with the right one. */
  readonly passwordChangePerUser: number;
  /** Orders to delete one account within a day. */
  readonly deletionPerUser: number;
  /** Codes that one network asks for within an hour. */
  readonly codePerAddress: number;
  /**
   * Codes for one account within 24 hours: from all strangers, from all known sources, and from each that stays known.
   * Also those of all accounts for a change to one address.
   */
  readonly codePerAccount: number;
  /** Codes that one network confirms or asks for again within a minute. */
  readonly codeTryPerAddress: number;
  /** Questions about revocations of one sibling within a minute. */
  readonly revocationsPerSibling: number;
  readonly login: LoginRules;
}
