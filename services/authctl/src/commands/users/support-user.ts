import { ConfigError } from '@auth-account/config';
import { type AccountCounts, createAccountCounts } from '@auth-account/redis';
import { exportAccount } from '@auth-account/stores/account-export';
import type { UserDocument } from '@auth-account/stores/documents';
import { loadKeyFile, readSecret } from '@auth-account/tokens';
import { CommandError } from '../../cli/command-error.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { withRedis } from '../../compose.ts';
import { keyConfig } from '../../config.ts';
import { type AccountChange, changeAccount, type OperatorOptions } from './change-account.ts';

/**
 * Returns what the limits count for the account, or the reason for which that can't be read. The names of the counts
 * are HMACs, so the server's keys are needed.
 */
export async function limitsOf(shell: Shell, { email_key }: UserDocument): Promise<Readonly<Record<string, unknown>>> {
  try {
    return describe(await withCounts(shell, (counts) => counts.read(email_key)));
  } catch (error) {
    if (error instanceof CommandError) return { limits: `unknown: ${error.message}` };
    if (error instanceof ConfigError) return { limits: 'unknown: a variable of Redis is missing or wrong' };
    throw error;
  }
}

function describe(counts: AccountCounts): Readonly<Record<string, unknown>> {
  const iso = (time: number) => new Date(time).toISOString();
  return {
    limits_account: counts.tag,
    known_places: counts.places,
    known_places_with_failures: counts.knownWithFailures,
    wrong_passwords: counts.wrongPasswords.unknown,
    wrong_passwords_from_known: counts.wrongPasswords.known,
    wrong_passwords_today: counts.failuresToday,
    login_elsewhere_from: counts.loginFrom > 0 ? iso(counts.loginFrom) : null,
    wrong_factors: counts.wrongFactors.unknown,
    wrong_factors_from_known: counts.wrongFactors.known,
    factor_tries_elsewhere: counts.factorTries.map(iso),
    codes_asked_elsewhere: counts.codes.map(iso),
  };
}

/** Lets an account try passwords, second factors and codes anew, wherever its owner is. */
export function unlockUser(shell: Shell, idOrEmail: string, options: OperatorOptions): Promise<Outcome> {
  const change = async ({ user, audit, reason, requestId }: AccountChange): Promise<Outcome> => {
    await withCounts(shell, (counts) => counts.clear(user.email_key, user.recovered_at));
    audit({ event: 'account.unlocked', operator_reason: reason });
    return { json: { user_id: user._id, request_id: requestId }, text: `Unlocked. Request id: ${requestId}` };
  };
  return changeAccount(shell, idOrEmail, options, { change });
}

async function withCounts<T>(shell: Shell, work: (counts: ReturnType<typeof createAccountCounts>) => Promise<T>) {
  const config = shell.config(keyConfig);
  const { SERVER_KEYS_FILE: path } = config;
  if (path === undefined) throw new CommandError('SERVER_KEYS_FILE is not set. Set it as for the api.');
  const { keys } = await loadKeyFile(path).catch((error: unknown) => {
    throw new CommandError(`${path}: ${(error as Error).message}`, { cause: error });
  });
  const secrets = keys.map(readSecret);
  return withRedis(shell, ({ redis, keyPrefix }) =>
    work(createAccountCounts({ redis, keyPrefix, secrets: () => secrets })),
  );
}

/** Prints, as JSON, all data that is held about a person, as `POST /api/v1/account/export` gives it to its owner. */
export function exportUser(shell: Shell, idOrEmail: string, options: OperatorOptions): Promise<Outcome> {
  const change = async ({ user: { _id: user_id }, stores, now, audit, reason }: AccountChange): Promise<Outcome> => {
    const user = await stores.users.find(user_id);
    if (user === undefined) throw new CommandError(`The account ${user_id} is being erased.`);
    const json = await exportAccount(stores, user, now);
    audit({ event: 'account.exported', operator_reason: reason });
    return { json, text: JSON.stringify(json, null, 2) };
  };
  return changeAccount(shell, idOrEmail, options, { change });
}
