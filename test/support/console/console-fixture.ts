import { randomBytes } from 'node:crypto';
import { loadConfig } from '@auth-account/config';
import { type ConsoleTestOverrides, compose } from '@auth-account/console/compose';
import { consoleConfig } from '@auth-account/console/config';
import { type Role, reasonHeader, tokenHeader } from '@auth-account/console/contract';
import { waitUntil } from '@auth-account/local-stack';
import { createMetrics, type Logger } from '@auth-account/telemetry';
import { type Fixture, openFixture, quietLogger } from '../fixture.ts';
import { type Answer, send } from '../http-client.ts';
import { runService } from '../running-service.ts';
import type { Environment } from '../service-environment.ts';
import { consoleClient, type StaffClaims, startStaffProvider } from './staff-provider.ts';

/** A member of staff with a browser of a console. */
export type StaffClient = Awaited<ReturnType<typeof clientWith>>;

/** Opens a browser that keeps its cookies by origin. `bases`: addresses of origins that are none themselves. */
function openBrowser(bases: Readonly<Record<string, string>>) {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string) => {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };
  const cookieOf = (url: string) => [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join('; ');
  return {
    cookieOf,
    jarOf,
    /** Loads a page without following its redirect. */
    async load(url: string): Promise<Answer> {
      const { origin } = new URL(url);
      const cookie = cookieOf(url);
      const headers = { ...(cookie !== '' && { cookie }) };
      const answer = await send(bases[origin] ?? origin, {
        method: 'GET',
        path: url.slice(origin.length) || '/',
        headers,
      });
      for (const text of answer.headers['set-cookie'] ?? []) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
        if (value === '') jarOf(url).delete(name);
        else jarOf(url).set(name, value);
      }
      return answer;
    },
    /** Sends a form. */
    async submit(url: string, form: Readonly<Record<string, string>>): Promise<Answer> {
      const { origin } = new URL(url);
      const headers = { cookie: cookieOf(url), 'content-type': 'application/x-www-form-urlencoded' };
      const body = new URLSearchParams(form).toString();
      return send(bases[origin] ?? origin, { path: url.slice(origin.length), headers, body });
    },
    /** Follows redirects until `isEnd` says so of the next URL, and returns the URL of the last redirect. */
    async follow(url: string, isEnd: (next: string) => boolean): Promise<string> {
      let at = url;
      for (let steps = 0; steps < 10; steps += 1) {
        const { status, headers, text } = await this.load(at);
        if (headers.location === undefined) throw new Error(`${at} answered ${status}: ${text}`);
        at = new URL(headers.location, at).href;
        if (isEnd(at)) return at;
      }
      throw new Error('there are too many redirects');
    },
  };
}

/** The roles of staff as the provider names them. */
export const roleValues = { viewer: ['staff'], support: ['helpdesk'], operator: ['on-call'] };

/** So long that no stall of the machine makes a difference. */
const patiently = { redis: 60_000, provider: 60_000, logout: 60_000 };

/** Starts a console in this process on a fixture, with a provider of its own. Both end with the fixture. */
export async function startConsoleOn(
  fixture: Fixture,
  env: Environment = {},
  { logger = quietLogger('console'), ...overrides }: ConsoleTestOverrides & { readonly logger?: Logger } = {},
) {
  const people = new Map<string, StaffClaims>(
    Object.entries(roleValues).map(([role, values]) => [role, { name: `A ${role}`, roles: values }]),
  );
  const staff = fixture.closing(await startStaffProvider(people));
  const own = {
    ...fixture.env,
    CONSOLE_PORT: '0',
    CONSOLE_PUBLIC_URL: 'https://console.test',
    CONSOLE_ISSUER: staff.issuer,
    CONSOLE_CLIENT_ID: consoleClient.id,
    CONSOLE_CLIENT_SECRET: consoleClient.secret,
    CONSOLE_SCOPES: 'openid profile roles',
    CONSOLE_ROLES: JSON.stringify(roleValues),
    CONSOLE_SECRETS: randomBytes(32).toString('base64url'),
    ...env,
  };
  const metrics = createMetrics({ service: 'console' });
  const config = loadConfig(consoleConfig, { env: own });
  const readPage = async () => new Map([['/', { type: 'text/html; charset=utf-8', body: '<!doctype html>' }]]);
  const parts = await compose({ config, logger, metrics }, { readPage, waits: patiently, ...overrides });
  const running = fixture.closing(await runService(parts, metrics));
  const origin = own.CONSOLE_PUBLIC_URL;
  const base = `http://127.0.0.1:${parts.address().port}`;
  staff.serve(origin, base);
  await waitUntil(async () => (await running.unreadiness()).length === 0, {
    what: 'the console to be ready',
    timeoutMs: 60_000,
  });

  /** Signs a person of the provider in, through its real redirects. */
  async function signInAs(person: string, browser = openBrowser({ [origin]: base })): Promise<StaffClient> {
    staff.present.person = person;
    await browser.follow(`${origin}/sign-in`, (next) => next === `${origin}/`);
    return clientWith(origin, base, browser.cookieOf(origin));
  }

  return {
    ...running,
    /** Address at which it listens; `origin` is what browsers believe it to be. */
    base,
    ...{ origin, env: own, staff, routes: parts.routes, signInAs },
    /** Steps of the shutdown with this name. */
    steps: (name: string) => parts.shutdown.filter((step) => step.name === name),
    openBrowser: () => openBrowser({ [origin]: base }),
    /** Signs a member of staff in, whose only role it is. */
    signIn: (role: Role) => signInAs(role),
    /** Returns a browser that only has this cookie. */
    clientWith: (cookie: string) => clientWith(origin, base, cookie),
  };
}

async function clientWith(origin: string, base: string, cookie: string) {
  const reasoned = (reason: string | undefined) =>
    reason === undefined ? {} : { [reasonHeader]: encodeURIComponent(reason) };
  const get = (path: string, reason?: string) =>
    send(base, { method: 'GET', path, headers: { cookie, ...reasoned(reason) } });
  const { json } = await get('/api/me');
  const token: string = json?.token ?? '';
  return {
    /** `cookie`: the header of the browser. */
    ...{ cookie, token, get },
    post(path: string, body?: unknown, reason?: string, more?: Environment) {
      const own = { cookie, origin, [tokenHeader]: token, 'sec-fetch-site': 'same-origin' };
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      return send(base, { path, body, headers: { ...own, ...type, ...reasoned(reason), ...more } });
    },
  };
}

/** Starts a console with a database and key prefix of its own. It closes all that stands on them. */
export async function startTestConsole(
  ...[env, overrides]: [env?: Environment, overrides?: Parameters<typeof startConsoleOn>[2]]
) {
  const fixture = await openFixture();
  try {
    return { ...(await startConsoleOn(fixture, env, overrides)), fixture, close: fixture.close };
  } catch (error) {
    await fixture.close();
    throw error;
  }
}
