import { randomUUID } from 'node:crypto';
import { deletionConfig, maxTokenSeconds, tokenLifeConfig } from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';
import type { Mongo, Plan } from '@auth-account/operations';
import {
  describeCounts,
  type EndingContext,
  findGraceDaysFault,
  kindsOfSignInMethods,
  planDelete,
  planDisable,
  planEnable,
  planExport,
  planFactorRemoval,
  planPasswordReset,
  planRemovalOfMethods,
  planRestore,
  planStopOfFactorRemoval,
  planUnlock,
  type UseCounts,
} from '@auth-account/operations/accounts';
import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { withMongo, withRedis } from '../../compose.ts';
import { reasonOption } from '../force-logout/order-options.ts';
import { asOption, openAudit, operatorOf } from './operator.ts';
import { withCounts } from './with-counts.ts';

/** Adds the commands that change an account, in the operator's name. */
export function addAccountChanges(user: Command, shell: Shell): void {
  const add = (name: string, description: string) =>
    user.command(name).description(description).argument('<id|email>').addOption(reasonOption()).addOption(asOption());
  const change = createChange(shell);
  const changeUnasked = createChange(shell, { yes: true });
  add('disable', 'let nobody log in to an account, and end its sessions').action(
    changeUnasked(planDisable, (json) => ended('Disabled.', json)),
  );
  add('enable', 'let a disabled account log in again').action(
    changeUnasked(planEnable, (json) => done('Enabled.', json)),
  );
  add(
    'unlock',
    'forget wrong passwords, second factors and codes asked for, so that all of them can be tried anew',
  ).action(changeUnasked(planUnlock, (json) => done('Unlocked.', json)));
  add('export', 'print all data that is held about a person, as JSON').action(
    changeUnasked(planExport, (json) => ({ json, text: JSON.stringify(json, null, 2) })),
  );
  add('delete', 'order the deletion of an account, and end its sessions; it can be restored until it is erased')
    .addOption(graceDaysOption())
    .option('--yes', 'do not ask')
    .action(
      change(
        (context, idOrEmail, { graceDays = graceDaysOf(shell) }) => planDelete(context, idOrEmail, { graceDays }),
        (json) => ended(`Will be erased at ${json.deletes_at.toISOString()}.`, json),
      ),
    );
  add('restore', 'cancel the deletion of an account').action(
    changeUnasked(planRestore, ({ is_disabled, ...json }) =>
      done(is_disabled ? 'Restored. It is still disabled.' : 'Restored.', json),
    ),
  );
  add('reset-password', 'make the password of an account unusable until its holder resets it, and end its sessions')
    .option('--yes', 'do not ask')
    .action(change(planPasswordReset, (json) => ended(`${unusable} Invites revoked: ${json.invites_revoked}.`, json)));
  add('remove-second-factor', 'order the removal of the second factor of an account in 72 hours, never sooner')
    .addOption(new Option('--stop', 'stop the removal that was ordered').implies({ yes: true }))
    .option('--yes', 'do not ask')
    .action(
      change(planFactorChange, (json) => {
        const text = json.due_at
          ? `Will be removed at ${json.due_at.toISOString()}.`
          : 'Stopped: the second factor stays.';
        return done(text, json, `The apps got no message (${json.problem}); the mail is on its way.`);
      }),
    );
  add('remove-ways-in', 'remove all passkeys and identities of an account, and end its sessions')
    .addOption(new Option('--only <kind>', 'remove only these').choices(kindsOfSignInMethods))
    .option('--yes', 'do not ask')
    .action(change(planRemovalOfMethods, (json) => ended(`Removed: ${describeCounts(json)}.`, json)));
}

const unusable = 'The password is unusable until it is reset in the app ("forgotten password"); passkeys stay.';

const graceDaysOption = () =>
  new Option('--grace-days <n>', 'days until the erasure; default: ACCOUNT_DELETION_GRACE_DAYS').argParser((text) => {
    const days = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
    const fault = findGraceDaysFault(days);
    if (fault !== undefined) throw new InvalidArgumentError(fault);
    return days;
  });

function graceDaysOf(shell: Shell): number {
  return shell.config(Type.Object(deletionConfig)).ACCOUNT_DELETION_GRACE_DAYS;
}

/** Options of the commands; each command has some of them. */
interface ChangeOptions {
  readonly reason: string;
  readonly as?: string | undefined;
  readonly yes?: true | undefined;
  readonly graceDays?: number | undefined;
  readonly only?: (typeof kindsOfSignInMethods)[number] | undefined;
  readonly stop?: true | undefined;
}

type Context = EndingContext & { readonly useCounts: UseCounts };

/** Plans the change, asks for a confirmation unless the options give it, carries it out and prints the result. */
const createChange =
  (shell: Shell, always: Pick<ChangeOptions, 'yes'> = {}) =>
  <T>(
    planIn: (context: Context, idOrEmail: string, options: ChangeOptions) => Promise<Plan<T>>,
    toOutcome: (result: T) => Outcome,
  ) =>
  (idOrEmail: string, options: ChangeOptions): Promise<void> => {
    const { reason, as, yes } = { ...options, ...always };
    const operator = { name: operatorOf(as), reason, requestId: `authctl-${randomUUID()}`, audit: openAudit(shell) };
    const others: Omit<Context, keyof Mongo> = {
      operator,
      useRedis: (work) => withRedis(shell, work),
      useCounts: (work) => withCounts(shell, work),
      maxTokenSeconds: () => maxTokenSeconds(shell.config(Type.Object(tokenLifeConfig))),
    };
    const run = async (mongo: Mongo) => {
      const plan = await planIn({ ...mongo, ...others }, idOrEmail, options);
      return toOutcome(await shell.carryOut(plan, { yes }));
    };
    return shell.conclude(withMongo(shell, run));
  };

interface FactorChange extends Requested {
  /** Time of the removal, if it was not stopped. */
  readonly due_at?: Date;
}

const planFactorChange = (context: Context, idOrEmail: string, { stop }: ChangeOptions): Promise<Plan<FactorChange>> =>
  stop ? planStopOfFactorRemoval(context, idOrEmail) : planFactorRemoval(context, idOrEmail);

interface Requested {
  readonly request_id: string;
  readonly problem?: string | null;
}

/** Reports a change; with `late` if Redis could not be reached. */
function done(text: string, json: Requested, late = ''): Outcome {
  return { json, text: `${text} Request id: ${json.request_id}${(json.problem ?? null) === null ? '' : `\n${late}`}` };
}

function ended(text: string, json: Requested & { readonly sessions: number }): Outcome {
  const late = `The streams are not closed yet (${json.problem}): the worker closes them.`;
  return done(`${text} Sessions ended: ${json.sessions}.`, json, late);
}
