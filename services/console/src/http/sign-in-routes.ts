import { randomBytes } from 'node:crypto';
import { loggedNetwork, networkOf } from '@auth-account/lifecycle';
import type { AuditSampler, WriteAudit } from '@auth-account/telemetry';
import express, { type Express, type Request, type Response } from 'express';
import { ConsoleError } from '../runtime/console-error.ts';
import type { TakeOne } from '../runtime/limits.ts';
import type { ConsoleMetrics, SignInRefusal } from '../runtime/metrics.ts';
import { type Provider, ProviderRefusal, type SignInStart } from '../sign-in/provider.ts';
import type { Seals } from '../sign-in/seals.ts';
import type { SessionRecords } from '../sign-in/session-records.ts';
import type { Sessions } from '../sign-in/sessions.ts';
import { factsOf } from './begin-request.ts';
import type { Cookie } from './cookies.ts';
import { refusalPage } from './refusal-page.ts';

export interface SignInDeps {
  readonly provider: Provider;
  readonly sessions: Sessions;
  readonly records: SessionRecords;
  readonly seals: Seals;
  readonly sessionCookie: Cookie;
  readonly signInCookie: Cookie;
  readonly origin: string;
  readonly takeOne: TakeOne;
  readonly audit: WriteAudit;
  /** For refusals, which anybody can cause as often as he likes. */
  readonly sampler: AuditSampler;
  readonly metrics: Pick<ConsoleMetrics, 'signIns'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const signInSeconds = 600;
/** Seconds for which a logout token is remembered: longer than it is accepted. */
const logoutSeconds = 900;

interface Begun extends SignInStart {
  readonly to: string;
}

/** Mounts what a browser and the provider use to sign staff in and out. */
export function mountSignIn(app: Express, deps: SignInDeps): void {
  app.get('/sign-in', (req, res) => answered(deps, req, res, () => begin(deps, req, res)));
  app.get('/sign-in/callback', (req, res) => answered(deps, req, res, () => finish(deps, req, res)));
  app.post('/sign-in/ended', express.urlencoded({ extended: false, limit: '16kb' }), (req, res) => end(deps, req, res));
}

/**
 * Returns the URL of a path of this console. Everything else, such as another host, becomes its first page (OWASP,
 * Unvalidated Redirects and Forwards).
 */
function ownUrl(origin: string, path: unknown): string {
  if (typeof path !== 'string' || path.length > 512 || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(path)) return `${origin}/`;
  const url = URL.parse(path, origin);
  const isOwn = url?.origin === origin && !/^\/(\/|api\/|sign-in)/.test(url.pathname);
  return isOwn ? `${origin}${url.pathname}${url.search}${url.hash}` : `${origin}/`;
}

async function begin({ provider, seals, signInCookie, origin, takeOne, now }: SignInDeps, req: Request, res: Response) {
  await takeOne('sign_ins', networkOf(req.ip, { v4: 32, v6: 64 }));
  const random = () => randomBytes(32).toString('base64url');
  const start: SignInStart = { state: random(), nonce: random(), verifier: random() };
  const page = await provider.begin(start);
  const until = Math.floor(now() / 1_000) + signInSeconds;
  const sealed = await seals.seal('sign-in', { ...start, to: ownUrl(origin, req.query.to) }, until);
  signInCookie.write(res, sealed, signInSeconds);
  res.redirect(page.href);
}

async function finish(deps: SignInDeps, req: Request, res: Response): Promise<void> {
  const { provider, sessions, seals, sessionCookie, signInCookie, origin, metrics } = deps;
  const sealed = signInCookie.read(req);
  signInCookie.clear(res);
  const begun = sealed === undefined ? undefined : ((await seals.open('sign-in', sealed)) as Begun | undefined);
  if (begun === undefined) return refuse(deps, req, res, 'not_begun');
  const callback = new URL(`${origin}/sign-in/callback`);
  callback.search = req.originalUrl.split('?').slice(1).join('?');
  const found = await provider.finish(callback, begun);
  const begins = await sessions.begin(found);
  if (begins === undefined) return refuse(deps, req, res, 'no_role', found.subject);
  const { session, cookie } = begins;
  sessionCookie.write(res, cookie, Math.floor(session.until - deps.now() / 1_000));
  const { subject, name, role } = session;
  const who = { staff: subject, staff_name: name, staff_role: role };
  deps.audit({ event: 'console.signed_in', outcome: 'success', ...who, ...originOf(req, res) });
  metrics.signIns.inc({ outcome: 'signed_in' });
  // The browser sends no strict cookie on the way from another site. The page has no data, and asks for them itself.
  res.redirect(begun.to);
}

const originOf = (req: Request, res: Response) => ({
  request_id: factsOf(res).requestId,
  address: loggedNetwork(req.ip),
});

/** Answers a browser whose sign-in failed with a page for people. */
async function answered(deps: SignInDeps, req: Request, res: Response, work: () => Promise<void>): Promise<void> {
  factsOf(res).route = req.path;
  try {
    await work();
  } catch (error) {
    if (error instanceof ProviderRefusal) refuse(deps, req, res, 'refused');
    else if (error instanceof ConsoleError && error.code === 'limited')
      refuse(deps, req, res, 'limited', undefined, error);
    else if (error instanceof ConsoleError && error.code === 'unavailable') refuse(deps, req, res, 'unavailable');
    else throw error;
  }
}

const statuses = { not_begun: 400, refused: 403, no_role: 403, unavailable: 503, limited: 429 } as const;

function refuse(
  { audit, sampler, metrics }: SignInDeps,
  req: Request,
  res: Response,
  reason: SignInRefusal,
  staff?: string,
  error?: ConsoleError,
): void {
  metrics.signIns.inc({ outcome: reason });
  const fields = { event: 'console.sign_in_refused', outcome: 'failure', reason, ...originOf(req, res) };
  if (staff !== undefined) audit({ ...fields, staff });
  else sampler.write({ kind: `${fields.event} ${reason}`, network: fields.address, fields });
  if (error?.retryAfterSeconds !== undefined) res.setHeader('Retry-After', String(error.retryAfterSeconds));
  res
    .status(statuses[reason])
    .type('html')
    .send(refusalPage(reason, factsOf(res).requestId));
}

/** Ends the sessions that a logout token names (OpenID Connect Back-Channel Logout 1.0, section 2.5). */
async function end({ provider, records, audit }: SignInDeps, req: Request, res: Response): Promise<void> {
  factsOf(res).route = req.path;
  const { logout_token: token } = Object(req.body) as { logout_token?: unknown };
  const claims = typeof token === 'string' ? await provider.readLogout(token).catch(undefinedIfRefused) : undefined;
  const isNew = claims !== undefined && (await records.noteOnce(`logout ${claims.jti}`, logoutSeconds));
  if (claims === undefined || !isNew) {
    res.status(400).json({ error: 'invalid_request' });
    return;
  }
  const { sub: subject, sid } = claims;
  const sessions = await records.removeOf({ subject, providerSession: typeof sid === 'string' ? sid : undefined });
  const { requestId: request_id } = factsOf(res);
  audit({ event: 'console.signed_out', outcome: 'success', reason: 'provider', staff: subject, sessions, request_id });
  res.status(200).end();
}

function undefinedIfRefused(error: unknown): undefined {
  if (!(error instanceof ProviderRefusal)) throw error;
}
