import { CommandError, exitCodes } from '../cli/command-error.ts';
import type { MailboxAccess } from './mailbox.ts';
import type { ProbeConfig } from './probe-config.ts';

/** Options of a probe on the command line; times are in milliseconds. */
export interface ProbeOptions {
  readonly apiUrl?: string | undefined;
  readonly pushUrl?: string | undefined;
  readonly email?: string | undefined;
  readonly timeout: number;
  readonly eventWait: number;
  readonly withMail?: true | undefined;
  readonly mailUrl?: string | undefined;
  readonly mailEvery: number;
  readonly mailWait: number;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Plan of the path through a mailbox. */
export interface MailPlan extends MailboxAccess {
  /** Milliseconds from the start of one run with mails to the start of the next. */
  readonly everyMs: number;
  /** Limit in milliseconds for the arrival of a mail. */
  readonly waitMs: number;
}

/** Plan that each run of a probe follows. */
export interface ProbePlan {
  /** Base URL of the api, without a slash at its end. */
  readonly apiUrl: string;
  /** Base URL of the push gateway, without a slash at its end. If undefined, the login's answer names the URL. */
  readonly pushUrl: string | undefined;
  /** An existing account; without it each run registers one. */
  readonly account: Credentials | undefined;
  readonly emailDomain: string;
  /** Undefined if no run asks for mails. */
  readonly mail: MailPlan | undefined;
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
    mail: options.withMail ? mailPlanOf(options, config) : undefined,
    timeoutMs: options.timeout,
    eventWaitMs: options.eventWait,
    canCleanUp: config.MONGODB_URI !== undefined,
  };
}

function credentialsOf(email: string, { PROBE_PASSWORD: password }: ProbeConfig): Credentials {
  if (password === undefined) throw missing('--email needs the password in PROBE_PASSWORD or PROBE_PASSWORD_FILE.');
  return { email, password };
}

function mailPlanOf({ email, mailUrl, mailEvery, mailWait }: ProbeOptions, config: ProbeConfig): MailPlan {
  // The path through the mailbox deletes its account.
  if (email !== undefined) throw missing('--with-mail registers accounts of its own: leave out --email.');
  const url = mailUrl ?? config.PROBE_MAIL_URL;
  if (url === undefined) throw missing('--with-mail needs --mail-url, or PROBE_MAIL_URL.');
  return { url, token: config.PROBE_MAIL_TOKEN, everyMs: mailEvery, waitMs: mailWait };
}

const missing = (message: string) => new CommandError(message, { exitCode: exitCodes.configuration });
const withoutSlash = (url: string) => url.replace(/\/+$/, '');
