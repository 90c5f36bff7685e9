import { CommandError } from '../cli/command-error.ts';
import { exitCodes } from '../cli/exit-codes.ts';
import type { ProbeConfig } from './probe-config.ts';

/** Options of a probe on the command line; times are in milliseconds. */
export interface ProbeOptions {
  readonly apiUrl?: string | undefined;
  readonly pushUrl?: string | undefined;
  readonly email?: string | undefined;
  readonly timeout: number;
  readonly eventWait: number;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Plan that each run of a probe follows. */
export interface ProbePlan {
  /** Base URL of the api, without a slash at its end. */
  readonly apiUrl: string;
  /** Base URL of the push gateway, likewise; without it the login's answer names it. */
  readonly pushUrl: string | undefined;
  /** An existing account; without it each run registers one. */
  readonly account: Credentials | undefined;
  readonly emailDomain: string;
  /** Limit in milliseconds for each step. */
  readonly timeoutMs: number;
  /** Limit in milliseconds for the delivery of the registration's event, before its account is removed. */
  readonly eventWaitMs: number;
  /** True if there is a database to clean up. */
  readonly canCleanUp: boolean;
}

/** Merges command line and environment. Throws a `CommandError` if something is missing. */
export function planProbe(options: ProbeOptions, config: ProbeConfig): ProbePlan {
  const apiUrl = options.apiUrl ?? config.PROBE_API_URL;
  const pushUrl = options.pushUrl ?? config.PROBE_PUSH_URL;
  if (apiUrl === undefined) throw missing('Give --api-url, or set PROBE_API_URL.');
  return {
    apiUrl: withoutSlash(apiUrl),
    pushUrl: pushUrl === undefined ? undefined : withoutSlash(pushUrl),
    account: options.email === undefined ? undefined : credentialsOf(options.email, config),
    emailDomain: config.PROBE_EMAIL_DOMAIN,
    timeoutMs: options.timeout,
    eventWaitMs: options.eventWait,
    canCleanUp: config.MONGODB_URI !== undefined,
  };
}

function credentialsOf(email: string, { PROBE_PASSWORD: password }: ProbeConfig): Credentials {
  if (password === undefined) throw missing('--email needs the password in PROBE_PASSWORD or PROBE_PASSWORD_FILE.');
  return { email, password };
}

const missing = (message: string) => new CommandError(message, { exitCode: exitCodes.configuration });
const withoutSlash = (url: string) => url.replace(/\/+$/, '');
