import { randomUUID } from 'node:crypto';
import { deletionConfig, maxTokenSeconds, tokenLifeConfig } from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';
import type { Plan } from '@auth-account/operations';
import {
  describeCounts,
  type EndedSessions,
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

function parseGraceDays(text: string): number {
  const days = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  const fault = findGraceDaysFault(days);
  if (fault !== undefined) throw new InvalidArgumentError(fault);
  return days;
}

const adderTo = (user: Command) => (name: string, description: string) =>
  user.command(name).description(description).argument('<id|email>').addOption(reasonOption()).addOption(asOption());

/** Adds the commands that change an account, in the operator's name. */
export function addAccountChanges(user: Command, shell: Shell): void {
  const add = adderTo(user);
  add('disable', 'let nobody log in to an account, and end its sessions').action((idOrEmail, options) =>
    change(shell, options, (context) => planDisable(context, idOrEmail), ended('Disabled.')),
  );
  add('enable', 'let a disabled account log in again').action((idOrEmail, options) =>
    change(shell, options, (context) => planEnable(context, idOrEmail), done('Enabled.')),
  );
  add(
    'unlock',
    'forget wrong passwords, second factors and codes asked for, so that all of them can be tried anew',
  ).action((idOrEmail, options) =>
    change(shell, options, (context) => planUnlock(context, idOrEmail), done('Unlocked.')),
  );
  add('export', 'print all data that is held about a person, as JSON').action((idOrEmail, options) =>
    change(shell, options, (context) => planExport(context, idOrEmail), asJson),
  );
  add('delete', 'order the deletion of an account, and end its sessions; it can be restored until it is erased')
    .addOption(
      new Option('--grace-days <n>', 'days until the erasure; default: ACCOUNT_DELETION_GRACE_DAYS').argParser(
        parseGraceDays,
      ),
    )
    .option('--yes', 'do not ask')
    .action((idOrEmail, { graceDays = graceDaysOf(shell), ...options }) =>
      change(
        shell,
        options,
        (context) => planDelete(context, idOrEmail, { graceDays }),
        (json) => ended(`Will be erased at ${json.deletes_at.toISOString()}.`)(json),
      ),
    );
  add('restore', 'cancel the deletion of an account').action((idOrEmail, options) =>
    change(
      shell,
      options,
      (context) => planRestore(context, idOrEmail),
      ({ is_disabled, ...json }) => done(is_disabled ? 'Restored. It is still disabled.' : 'Restored.')(json),
    ),
  );
  addRemovals(add, shell);
}

/** Commands that take something away by which the holder logs in. */
function addRemovals(add: ReturnType<typeof adderTo>, shell: Shell): void {
  add('reset-password', 'make the password of an account unusable until its holder resets it, and end its sessions')
    .option('--yes', 'do not ask')
    .action((idOrEmail, options) =>
      change(
        shell,
        options,
        (context) => planPasswordReset(context, idOrEmail),
        (json) =>
          ended(
            `The password is unusable until it is reset in the app ("forgotten password"); passkeys stay. Invites revoked: ${json.invites_revoked}.`,
          )(json),
      ),
    );
  add('remove-second-factor', 'order the removal of the second factor of an account in 72 hours, never sooner')
    .option('--stop', 'stop the removal that was ordered')
    .option('--yes', 'do not ask')
    .action((idOrEmail, { stop, ...options }) =>
      stop
        ? change(
            shell,
            options,
            (context) => planStopOfFactorRemoval(context, idOrEmail),
            notified('Stopped: the second factor stays.'),
          )
        : change(
            shell,
            options,
            (context) => planFactorRemoval(context, idOrEmail),
            (json) => notified(`Will be removed at ${json.due_at.toISOString()}.`)(json),
          ),
    );
  add('remove-ways-in', 'remove all passkeys and identities of an account, and end its sessions')
    .addOption(new Option('--only <kind>', 'remove only these').choices(kindsOfSignInMethods))
    .option('--yes', 'do not ask')
    .action((idOrEmail, { only, ...options }) =>
      change(
        shell,
        options,
        (context) => planRemovalOfMethods(context, idOrEmail, { only }),
        (json) => ended(`Removed: ${describeCounts(json)}.`)(json),
      ),
    );
}

function graceDaysOf(shell: Shell): number {
  return shell.config(Type.Object(deletionConfig)).ACCOUNT_DELETION_GRACE_DAYS;
}

interface ChangeOptions {
  readonly reason: string;
  readonly as?: string | undefined;
  readonly yes?: true | undefined;
}

/** Plans the change, asks for a confirmation if the plan needs one, carries it out and prints the result. */
function change<T>(
  shell: Shell,
  { reason, as, yes }: ChangeOptions,
  planIn: (context: EndingContext & { readonly useCounts: UseCounts }) => Promise<Plan<T>>,
  toOutcome: (result: T) => Outcome,
): Promise<void> {
  const operator = { name: operatorOf(as), reason, requestId: `authctl-${randomUUID()}`, audit: openAudit(shell) };
  return shell.conclude(
    withMongo(shell, async (mongo) => {
      const plan = await planIn({
        ...mongo,
        operator,
        useRedis: (work) => withRedis(shell, work),
        useCounts: (work) => withCounts(shell, work),
        maxTokenSeconds: () => maxTokenSeconds(shell.config(Type.Object(tokenLifeConfig))),
      });
      return toOutcome(await shell.carryOut(plan, { yes }));
    }),
  );
}

interface Requested {
  readonly request_id: string;
}

const asJson = (json: unknown): Outcome => ({ json, text: JSON.stringify(json, null, 2) });

function done(text: string) {
  return (json: Requested): Outcome => ({ json, text: `${text} Request id: ${json.request_id}` });
}

/** Reports a change that Redis was not needed for: `late` says what comes later if it was away. */
const withLate = (text: string, json: Requested & { readonly problem: string | null }, late: string): Outcome => ({
  json,
  text: [`${text} Request id: ${json.request_id}`, ...(json.problem === null ? [] : [late])].join('\n'),
});

function ended(text: string) {
  return (json: EndedSessions): Outcome => {
    const late = `The streams are not closed yet (${json.problem}): the worker closes them.`;
    return withLate(`${text} Sessions ended: ${json.sessions}.`, json, late);
  };
}

function notified(text: string) {
  return (json: Requested & { readonly problem: string | null }): Outcome =>
    withLate(text, json, `The apps got no message (${json.problem}); the mail is on its way.`);
}
