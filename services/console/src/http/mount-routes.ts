import type { WriteAudit } from '@auth-account/telemetry';
import type { Express, Request, RequestHandler, Response } from 'express';
import { Compile } from 'typebox/schema';
import { hasRightsOf } from '../contract/roles.ts';
import { ConsoleError } from '../runtime/console-error.ts';
import type { TakeOne } from '../runtime/limits.ts';
import type { ConsoleMetrics } from '../runtime/metrics.ts';
import type { Session, Sessions } from '../sign-in/sessions.ts';
import { factsOf } from './begin-request.ts';
import { assertOwnPage, readBody, readQuery, readReason } from './check-request.ts';
import type { Cookie } from './cookies.ts';
import type { Route, StaffRequest } from './route.ts';

/** A route that may use the session, and set headers. */
export interface SessionRoute extends Omit<Route, 'answer'> {
  /** It is there even if the provider, which says which role the person has now, is away. */
  readonly isOffline?: true;
  readonly answer: (request: StaffRequest, session: Session, res: Response) => Promise<unknown>;
}

export interface MountDeps {
  readonly sessions: Sessions;
  readonly sessionCookie: Cookie;
  /** CONSOLE_PUBLIC_URL. */
  readonly origin: string;
  readonly takeOne: TakeOne;
  readonly audit: WriteAudit;
  readonly metrics: Pick<ConsoleMetrics, 'lookups'>;
}

/** Mounts the routes. Everything that stands before an answer is checked here, and only here. */
export function mountRoutes(app: Express, routes: readonly SessionRoute[], deps: MountDeps): void {
  for (const route of routes) app[route.method === 'GET' ? 'get' : 'post'](route.path, handlerOf(route, deps));
}

function handlerOf(route: SessionRoute, deps: MountDeps): RequestHandler {
  const checker = route.body && Compile(route.body);

  async function bodyOf(req: Request, res: Response): Promise<unknown> {
    if (checker === undefined) return undefined;
    const body = await readBody(req, res);
    if (!checker.Check(body)) throw new ConsoleError('invalid', 'The body is against the schema of this route.');
    return body;
  }

  return async (req, res) => {
    factsOf(res).route = route.path;
    const session = await deps.sessions.find(deps.sessionCookie.read(req), !route.isOffline);
    if (session === undefined) throw new ConsoleError('signed_out', 'Nobody is signed in.');
    const audit = auditOf(deps.audit, session, factsOf(res).requestId);
    try {
      assertAllowed(req, route, session, deps.origin);
      const body = (await bodyOf(req, res)) as undefined;
      const query = readQuery(req);
      const reason = route.kind === 'plain' ? '' : readReason(req);
      const params = req.params as Readonly<Record<string, string>>;
      await count(route, session, deps);
      const audited: WriteAudit = (fields) => audit({ ...(reason !== '' && { reason }), ...fields });
      if (route.kind !== 'plain') audited({ ...looked(route), ...targetsOf({ ...params, ...namedIn(body) }) });
      const { subject, name, role } = session;
      const staff = { subject, name, role };
      const { requestId } = factsOf(res);
      const answer = await route.answer(
        { staff, reason, requestId, params, query, body, audit: audited },
        session,
        res,
      );
      if (answer === undefined) res.status(204).end();
      else res.json(answer);
    } catch (error) {
      auditRefusal(error, route, audit);
      throw error;
    }
  };
}

function assertAllowed(req: Request, { role }: SessionRoute, session: Session, origin: string): void {
  if (!hasRightsOf(session.role, role)) throw new ConsoleError('forbidden', `This needs the role ${role}.`);
  assertOwnPage(req, origin, session.token);
}

async function count({ kind, path }: SessionRoute, { subject }: Session, { takeOne, metrics }: MountDeps) {
  if (kind === 'plain') return;
  await takeOne(kind === 'changes' ? 'actions' : 'lookups', subject);
  if (kind === 'looked_at') metrics.lookups.inc({ route: path });
}

const looked = ({ kind, path }: SessionRoute) => ({
  event: kind === 'changes' ? 'console.change_asked' : 'console.looked_up',
  outcome: 'success',
  route: path,
});

/** Returns what the body of a plan or an action names, because its question has the account's email address. */
function namedIn(body: unknown): Readonly<Record<string, string>> {
  const { action, target } = Object(body) as { readonly action?: unknown; readonly target?: unknown };
  return typeof action === 'string' && typeof target === 'string' ? { action, target } : {};
}

/** Names what the path and the body name, if it may go into a log: what is no id could be an email address. */
function targetsOf(params: Readonly<Record<string, string>>) {
  const isId = (text: string) => /^[\w.:~/+=-]{1,128}$/.test(text);
  const targets = Object.entries(params).map(([name, value]) => [name, isId(value) ? value : 'no id']);
  return targets.length === 0 ? {} : { target: Object.fromEntries(targets) };
}

function auditOf(write: WriteAudit, { subject, name, role }: Session, requestId: string): WriteAudit {
  const who = { staff: subject, staff_name: name, staff_role: role, request_id: requestId };
  return (fields) => write({ ...who, ...fields });
}

const refusals: Readonly<Record<string, string>> = {
  limited: 'console.limited',
  forbidden: 'console.refused',
  wrong_origin: 'console.refused',
};

/** Writes what shows an attack, or somebody who reads many accounts. */
function auditRefusal(error: unknown, { path }: SessionRoute, audit: WriteAudit): void {
  if (!(error instanceof ConsoleError)) return;
  const event = refusals[error.code];
  if (event !== undefined) audit({ event, outcome: 'failure', reason: error.code, route: path });
}
