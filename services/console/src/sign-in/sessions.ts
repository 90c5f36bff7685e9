import { randomBytes, randomUUID } from 'node:crypto';
import type { WriteAudit } from '@auth-account/telemetry';
import type { ConsoleConfig } from '../config.ts';
import type { Role } from '../contract/roles.ts';
import { ConsoleError } from '../runtime/console-error.ts';
import { type Provider, type ProviderAnswer, ProviderRefusal } from './provider.ts';
import { readName, readRole } from './read-staff.ts';
import type { Seals } from './seals.ts';
import type { SessionRecord, SessionRecords } from './session-records.ts';

/** The session of a member of staff. */
export interface Session {
  readonly id: string;
  readonly subject: string;
  readonly name: string;
  readonly role: Role;
  /** Token of requests that are no GET. */
  readonly token: string;
  /** Seconds since the epoch. */
  readonly until: number;
}

export interface SessionDeps {
  readonly config: ConsoleConfig;
  readonly provider: Provider;
  readonly records: SessionRecords;
  readonly seals: Seals;
  readonly audit: WriteAudit;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface Sessions {
  /** Opens a session for a person who has signed in, and returns it with its cookie; undefined if there is no role. */
  begin(answer: ProviderAnswer): Promise<{ readonly session: Session; readonly cookie: string } | undefined>;
  /**
   * Returns the session of a cookie, with the role of now; undefined if there is none or it has ended. Throws a
   * `ConsoleError` or `OperationError` `unavailable` if that can't be known. `asks` false: with the last known role,
   * without asking the provider.
   */
  find(cookie: string | undefined, asks?: boolean): Promise<Session | undefined>;
  /** Returns the role that a person has now; undefined without a session that lives. Throws what `find` throws. */
  roleOf(person: Pick<Session, 'subject' | 'name'>): Promise<Role | undefined>;
  /** Ends the session, and returns the provider's page on which the person signs out there; null if there is none. */
  end(session: Session): Promise<string | null>;
}

type Holder = Pick<Session, 'id' | 'subject' | 'name'>;

/** Reasons in the audit log for the end of a session before its time. */
type EndReason = 'asked' | 'provider_refused' | 'no_role';

/** Asks the provider again for the roles of those who have a session, and ends sessions without one. */
function createRoles({ config, provider, records, audit, now }: SessionDeps) {
  const checking = new Map<string, Promise<SessionRecord | undefined>>();

  const isFresh = ({ checkedAt }: SessionRecord) => now() - checkedAt < config.CONSOLE_RECHECK_SECONDS * 1_000;

  function auditEnd({ subject, name }: Holder, reason: EndReason): void {
    audit({ event: 'console.signed_out', outcome: 'success', staff: subject, staff_name: name, reason });
  }

  async function endFor(session: Holder, reason: EndReason): Promise<undefined> {
    if (await records.remove(session.id)) auditEnd(session, reason);
  }

  /** Asks the provider again. Only its answer prolongs trust: without one there is no access until it answers. */
  async function check(session: Holder): Promise<SessionRecord | undefined> {
    // Another request may have asked since this one found the record.
    const record = await records.find(session.id);
    if (record === undefined || isFresh(record)) return record;
    try {
      const role = readRole(await provider.ask(record.accessToken, session.subject), config);
      if (role === undefined) return endFor(session, 'no_role');
      if (role !== record.role) {
        const who = { staff: session.subject, staff_name: session.name, staff_role: role };
        audit({ event: 'console.role_changed', outcome: 'success', ...who });
      }
      const checked = { ...record, role, checkedAt: now() };
      await records.replace(session.id, checked);
      return checked;
    } catch (error) {
      if (error instanceof ProviderRefusal) return endFor(session, 'provider_refused');
      throw error;
    }
  }

  /** Requests at the same time share one question to the provider. */
  function checkOnce(session: Holder): Promise<SessionRecord | undefined> {
    const running = checking.get(session.id) ?? check(session).finally(() => checking.delete(session.id));
    checking.set(session.id, running);
    return running;
  }

  async function roleIn(session: Holder, asks = true): Promise<Role | undefined> {
    const record = await records.find(session.id);
    if (record === undefined) return;
    return (!asks || isFresh(record) ? record : await checkOnce(session))?.role;
  }

  return { roleIn, endFor };
}

/** Keeps the sessions of staff: sealed in a cookie, with a record in Redis by which they end. */
export function createSessions(deps: SessionDeps): Sessions {
  const { config, provider, records, seals, now } = deps;
  const { roleIn, endFor } = createRoles(deps);
  return {
    async begin({ subject, claims, accessToken, idToken, providerSession, expiresIn }) {
      const role = readRole(claims, config);
      if (role === undefined) return;
      const seconds = Math.min(config.CONSOLE_SESSION_SECONDS, expiresIn ?? Number.POSITIVE_INFINITY);
      const until = Math.floor(now() / 1_000 + seconds);
      const [id, token] = [randomUUID(), randomBytes(32).toString('base64url')];
      const session = { id, subject, name: readName(claims), role, token, until };
      await records.add(id, { subject, providerSession }, { role, accessToken, idToken, checkedAt: now(), until });
      return { session, cookie: await seals.seal('session', session, until) };
    },
    async find(cookie, asks) {
      const facts = cookie === undefined ? undefined : await seals.open('session', cookie);
      if (facts === undefined) return;
      const session = facts as unknown as Session;
      const role = await roleIn(session, asks);
      return role && { ...session, role };
    },
    async roleOf({ subject, name }) {
      for (const id of await records.idsOf(subject)) {
        const role = await roleIn({ id, subject, name });
        if (role !== undefined) return role;
      }
      return;
    },
    async end(session) {
      const record = await records.find(session.id);
      await endFor(session, 'asked');
      return provider.endSessionUrl(record?.idToken).catch((error: unknown) => {
        if (error instanceof ConsoleError || error instanceof ProviderRefusal) return null;
        throw error;
      });
    },
  };
}
