import { randomUUID } from 'node:crypto';
import type { ActionName, Role } from '@auth-account/console/contract';
import { Redis } from 'ioredis';
import { roleValues, startConsoleOn } from '../../support/console/console-fixture.ts';
import type { Answer } from '../../support/http-client.ts';
import { type Line, recordLog } from '../../support/recorded-log.ts';
import type { Environment } from '../../support/service-environment.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { openOperatorFixture } from '../authctl/operator-fixture.ts';

/** All services with a console, whose staff carry out actions. */
export type StaffApp = Awaited<ReturnType<typeof openStaffApp>>;
export type Client = Awaited<ReturnType<StaffApp['hire']>>;

export interface ActionFields {
  readonly action: ActionName;
  readonly target: string;
  readonly options?: object;
}

/** Starts the services and a console. `fourEyes`: actions that need consent. `settings` are of the other services. */
export async function openStaffApp(fourEyes: readonly ActionName[] = [], settings: Environment = {}) {
  const fixture = await openOperatorFixture(settings);
  const log = recordLog('console');
  const own = {
    CONSOLE_FOUR_EYES: fourEyes.join(','),
    CONSOLE_ACTIONS_PER_HOUR: '1000',
    CONSOLE_LOOKUPS_PER_HOUR: '1000',
    CONSOLE_RECHECK_SECONDS: '1',
  };
  const console = await startConsoleOn(fixture, own, { logger: log.logger });
  const redis = new Redis(fixture.env.REDIS_URL ?? '');
  fixture.closing({ close: async () => redis.disconnect() });

  /** Signs a person of that role in, by default one who is new at the provider. */
  async function hire(role: Role, subject: string = randomUUID()) {
    const name = `${role} ${subject.slice(0, 4)}`;
    console.staff.people.set(subject, { name, roles: roleValues[role] });
    const { get, post } = await console.signInAs(subject);
    const send = (path: string, body?: object, reason = 'ticket 7') => post(path, body, reason);
    const plan = (fields: ActionFields) => send('/api/plans', fields);
    const act = (fields: ActionFields & { readonly digest: string }) => send('/api/actions', fields);
    /** Plans the action and confirms the plan. */
    async function confirm(fields: ActionFields): Promise<Answer & { readonly digest: string }> {
      const { status, json } = await plan(fields);
      if (status !== 200) throw new Error(`the plan was answered ${status}: ${json.error.message}`);
      return { digest: json.digest, ...(await act({ ...fields, digest: json.digest })) };
    }
    return { staff: { role, subject, name }, get: (path: string) => get(path, 'ticket 7'), send, plan, act, confirm };
  }

  /** Returns the lines of the console's audit log about actions and what they changed. */
  const audited = (): Line[] =>
    log.lines.filter(({ audit, event }) => audit === true && !/^console\.(?!action)/.test(String(event)));

  return {
    ...fixture,
    hire,
    audited,
    lines: log.lines,
    redis,
    metric: console.metric,
    stores: storesOf(fixture.collections),
  };
}
