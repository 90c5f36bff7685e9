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
