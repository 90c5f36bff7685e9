import { exportAccount } from '@auth-account/stores/account-export';
import { CommandError } from '../../cli/command-error.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { type AccountChange, changeAccount, type OperatorOptions } from './change-account.ts';

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
