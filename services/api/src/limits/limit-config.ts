import { type Static, Type } from 'typebox';

/** NIST SP 800-63B-4, section 3.2.2: no more failures than this for one account. */
const nistFailures = 100;

/** How many tries are too many. To be spread into the api's schema. */
export const limitConfig = {
  REGISTER_LIMIT_PER_ADDRESS: Type.Integer({
    minimum: 1,
    default: 100,
    description: 'Registrations from one address (IPv4 /32, IPv6 /64) within an hour',
  }),
  REFRESH_LIMIT_PER_ADDRESS: Type.Integer({
    minimum: 1,
    default: 6_000,
    description: 'Refreshes from one address (IPv4 /32, IPv6 /64) within a minute',
  }),
  INVITE_LIMIT_PER_ADDRESS: Type.Integer({
    minimum: 1,
    default: 600,
    description: 'Previews of invites, without an account, from one address (IPv4 /32, IPv6 /64) within a minute',
  }),
  INVITE_CREATE_LIMIT_PER_USER: Type.Integer({
    minimum: 1,
    default: 100,
    description: 'Invites that one account makes, or tries to make, within an hour',
  }),
  MOVE_LIMIT_PER_USER: Type.Integer({
    minimum: 1,
    default: 30,
    description: 'Changes of group that one account makes, or tries to make, within an hour',
  }),
  LOGIN_LIMIT_PER_ADDRESS: Type.Integer({
    minimum: 1,
    default: 300,
    description: 'Logins from one address (IPv4 /32, IPv6 /64) within 15 minutes, successful or not',
  }),
  LOGIN_FREE_FAILURES: Type.Integer({
    minimum: 1,
    maximum: 15,
    default: 5,
    description:
      'Wrong passwords for one account from one address or known device before the next try has to wait: 1 s, then twice as long each time',
  }),
  LOGIN_LONGEST_DELAY_SECONDS: Type.Integer({
    minimum: 60,
    maximum: 86_400,
    default: 900,
    description: 'The longest of those waits, in seconds',
  }),
  LOGIN_ACCOUNT_FREE_FAILURES: Type.Integer({
    minimum: 1,
    default: 20,
    description:
      'Wrong passwords for one account from all unknown addresses and devices before the next such try has to wait',
  }),
  LOGIN_ACCOUNT_LONGEST_DELAY_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 3_600,
    default: 30,
    description: 'The longest of those waits, in seconds',
  }),
  LOGIN_ACCOUNT_FAILURES_PER_DAY: Type.Integer({
    minimum: 1,
    maximum: nistFailures,
    default: nistFailures,
    description: 'Wrong passwords for one account within 24 hours from all unknown addresses and devices',
  }),
  LOGIN_KNOWN_FAILURES_PER_DAY: Type.Integer({
    minimum: 1,
    maximum: nistFailures,
    default: 20,
    description:
      'Wrong passwords within 24 hours from each address or device that has logged in to the account; each has its own count',
  }),
};

const schema = Type.Object(limitConfig);

/** The rules as configured. */
export function limitRulesOf(config: Static<typeof schema>): LimitRules {
  return {
    registerPerAddress: config.REGISTER_LIMIT_PER_ADDRESS,
    refreshPerAddress: config.REFRESH_LIMIT_PER_ADDRESS,
    findInvitePerAddress: config.INVITE_LIMIT_PER_ADDRESS,
    createInvitePerUser: config.INVITE_CREATE_LIMIT_PER_USER,
    movePerUser: config.MOVE_LIMIT_PER_USER,
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

/** How fast passwords may be guessed. */
export interface LoginRules {
  /** Tries of one network within its window. */
  readonly perAddress: number;
  /** Failures for an account from one device or network, from which on each delays the next try. */
  readonly freeFailures: number;
  readonly longestDelaySeconds: number;
  /** The same for an account, from all devices and networks that it does not know. */
  readonly accountFreeFailures: number;
  readonly accountLongestDelaySeconds: number;
  /** Failures for an account within any 24 hours, from all devices and networks that it does not know. */
  readonly accountFailuresPerDay: number;
  /** Failures within any 24 hours that each device and network with a success has to itself. */
  readonly knownFailuresPerDay: number;
}

/** All limits that are configuration. */
export interface LimitRules {
  /** Registrations of one network within an hour. */
  readonly registerPerAddress: number;
  /** Refreshes of one network within a minute. */
  readonly refreshPerAddress: number;
  /** Looks at invites of one network within a minute. */
  readonly findInvitePerAddress: number;
  /** Invites that one account makes within an hour. */
  readonly createInvitePerUser: number;
  /** Changes of group of one account within an hour. */
  readonly movePerUser: number;
  readonly login: LoginRules;
}
