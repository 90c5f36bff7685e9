import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { brotliCompressSync } from 'node:zlib';
import { actionNames, errorCodes } from '@auth-account/console/contract';
import { waitUntil } from '@auth-account/local-stack';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/client/chromium.ts';
import * as answers from './console/page-answers.ts';
import { type PageServer, refusal, servePage } from './console/page-server.ts';

/** The page's window, with the global of axe-core. */
interface PageWindow {
  readonly axe: {
    run(options: object): Promise<{
      readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
    }>;
  };
}
declare const window: PageWindow;

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const ticket = 'ticket 4711';
/** Limit for hangs only. */
const patience = 30_000;

const { account, userId, requestId, consentId, groupId, eventId, liveSession, endedSession, script } = answers;
const accountPath = `/accounts/${userId}`;
const accountCall = `GET /api${accountPath}`;

/** Each view with its heading and a text that only its answer has. */
const views: readonly (readonly [path: string, heading: string, text: string])[] = [
  ['/', 'Console', 'Search for an exact email address'],
  [accountPath, 'Account', 'Anna’s phone'],
  [`/groups/${groupId}`, 'Group', 'a1b2c3d4e5f6'],
  [`/requests/${requestId}`, 'Request', 'inserted into users'],
  [`/events/${eventId}`, 'Event', 'no such mailbox'],
  ['/consents', 'Consents', 'Asked for by Ben'],
  [`/consents/${consentId}`, 'Consent', 'anna@example.com'],
  ['/system', 'System', 'See docs/runbooks.'],
];

(hasChromium() ? describe : describe.skip)('the page of the console', () => {
  let server: PageServer;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let broken: string[];

  beforeAll(async () => {
    [server, browser] = await Promise.all([servePage(), launchChromium()]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  beforeEach(() => server.reset());

  afterEach(async () => {
    try {
      expect(await page.evaluate('"hacked" in window')).toBe(false);
      expect(broken).toEqual([]);
    } finally {
      await context.close();
    }
  });

  interface Visitor extends NonNullable<Parameters<Browser['newContext']>[0]> {
    /** The reason that the tab has already. */
    readonly reason?: string;
  }

  /** Opens a view for a new visitor. */
  async function open(path: string, { reason = ticket, ...options }: Visitor = {}): Promise<void> {
    const defaults = {
      ...{ viewport: { width: 1_280, height: 900 }, locale: 'en', timezoneId: 'Europe/Moscow', baseURL: server.url },
      ...{ permissions: ['clipboard-read', 'clipboard-write'], reducedMotion: 'reduce' as const },
    };
    context = await browser.newContext({ ...defaults, ...options });
    await context.addInitScript(`sessionStorage.getItem('reason') ?? sessionStorage.setItem('reason', '${reason}')`);
    page = await context.newPage();
    page.setDefaultTimeout(patience);
    broken = [];
    page.on('pageerror', (error) => broken.push(error.message));
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) broken.push(message.text());
    });
    await page.goto(path);
  }

  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const see = (text: string | RegExp) => page.getByText(text).first().waitFor();
  const textOf = async (of: Locator) => (await of.allInnerTexts()).join('\n');
  const callsOf = (what: string) => server.calls().filter((call) => call.what === what);

  /** By all rules of axe-core, or by some. */
  async function assertAccessible(runOnly?: readonly string[]): Promise<void> {
    if (!(await page.evaluate('"axe" in window'))) await page.evaluate(await readFile(axePath, 'utf8'));
    const options = { resultTypes: ['violations'], ...(runOnly && { runOnly }) };
    const { violations } = await page.evaluate((given) => window.axe.run(given), options);
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  }

  const isWithin = () => page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth');

  test('the page loads less than 100 KB with all its files compressed', async () => {
    await open('/');
    const sizes = [...server.files.values()].map(({ body }) => brotliCompressSync(body).length);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(100 * 1_024);
  });

  test.each([
    ['in light colours', { colorScheme: 'light' }, undefined],
    ['in dark colours', { colorScheme: 'dark' }, ['color-contrast', 'link-in-text-block']],
    ['at a phone’s width', { viewport: { width: 390, height: 844 } }, undefined],
  ] as const)('every view is accessible %s, and nothing sticks out', async (_, options, runOnly) => {
    await open('/', options);
    for (const [path, heading, text] of views) {
      await page.goto(path);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await see(text);
      await assertAccessible(runOnly);
      expect([path, await isWithin()]).toEqual([path, true]);
    }
  });

  test('every view speaks Russian to a reader of Russian, and no text is missing', async () => {
    await open('/', { locale: 'ru' });
    expect(await page.locator('html').getAttribute('lang')).toBe('ru');
    for (const [path] of views) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByText('Чтение …').waitFor({ state: 'detached' });
      const text = await textOf(page.locator('body'));
      expect(text).not.toMatch(/\{|undefined|\[object/);
      expect(text).toContain('Вход действует до');
    }
    await page.goto(accountPath);
    await see('человек завершил его с другого устройства');
    await button('en').click();
    await see('the person ended it from another device');
    await page.reload();
    await see('the person ended it from another device');
  });

  describe('signing in', () => {
    test('a reader without a session gets a button that leads back to the view after the sign-in', async () => {
      server.use('GET /api/me', () => refusal(401, 'signed_out'));
      await open(`${accountPath}?session=${liveSession}`);
      const link = page.getByRole('link', { name: 'Sign in' });
      const to = encodeURIComponent(`${accountPath}?session=${liveSession}`);
      expect(await link.getAttribute('href')).toBe(`/sign-in?to=${to}`);
      expect(callsOf(accountCall)).toEqual([]);
      await assertAccessible();
    });

    test('a session that ends takes everything from the screen', async () => {
      await open(accountPath);
      await see('Anna’s phone');
      server.use('POST /api/find', () => refusal(401, 'signed_out'));
      await page.getByLabel('Search').fill('a');
      await button('Find').click();
      await page.getByRole('link', { name: 'Sign in' }).waitFor();
      expect(await page.getByText('Anna’s phone').count()).toBe(0);
    });

    test('a session whose time has come ends on the screen without a request', async () => {
      server.use('GET /api/me', { ...answers.me, session_ends_at: new Date(Date.now() + 60_000).toISOString() });
      await open('/');
      await button('Sign out').waitFor();
      await page.clock.install();
      await page.reload();
      await button('Sign out').waitFor();
      await page.clock.fastForward(61_000);
      await page.getByRole('link', { name: 'Sign in' }).waitFor();
    });

    test('signing out sends the session’s token', async () => {
      await open('/');
      await button('Sign out').click();
      await page.getByRole('link', { name: 'Sign in' }).waitFor();
      expect(callsOf('POST /sign-out')).toEqual([expect.objectContaining({ token: answers.me.token })]);
    });
  });

  describe('the reason', () => {
    test('the reason is asked for before the first personal data, kept in the tab, shown, and sent with every look', async () => {
      await open(accountPath, { reason: '' });
      const dialog = page.getByRole('dialog', { name: 'Why do you look at personal data?' });
      await assertAccessible();
      expect(await page.getByText('Anna’s phone').count()).toBe(0);
      await dialog.getByLabel('Reason').fill('жалоба № 4711');
      await page.keyboard.press('Enter');
      await see('Anna’s phone');
      await page.getByRole('banner').getByText('жалоба № 4711').waitFor();
      await page.reload();
      await see('Anna’s phone');
      const given = callsOf(accountCall).map(({ reason }) => reason);
      expect(given).toEqual([undefined, 'жалоба № 4711', 'жалоба № 4711']);
    });

    test('a reason that may not go into the log is asked for again with the server’s words', async () => {
      await open(accountPath, { reason: '' });
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Reason').fill('mail from anna@example.com');
      await button('Go on').click();
      await dialog.getByRole('alert').filter({ hasText: 'no email address' }).waitFor();
      await dialog.getByLabel('Reason').fill(ticket);
      await button('Go on').click();
      await see('Anna’s phone');
    });

    test('a reader who gives no reason sees no personal data, and can try again', async () => {
      await open(accountPath, { reason: '' });
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('alert').filter({ hasText: 'This needs a reason' }).waitFor();
      expect(await page.getByText('Anna’s phone').count()).toBe(0);
      await button('Try again').click();
      await page.getByRole('dialog').getByLabel('Reason').fill(ticket);
      await button('Go on').click();
      await see('Anna’s phone');
    });

    test('the reason is changed in the header for the next case', async () => {
      await open(accountPath);
      await see('Anna’s phone');
      await page.getByRole('banner').getByRole('button', { name: 'Change' }).click();
      await page.getByRole('dialog').getByLabel('Reason').fill('ticket 4712');
      await button('Go on').click();
      await button('Show the address').click();
      await page.getByRole('heading', { name: 'anna@example.com' }).waitFor();
      expect(callsOf(`POST /api${accountPath}/address`)).toEqual([
        { what: `POST /api${accountPath}/address`, reason: 'ticket 4712', token: answers.me.token, body: undefined },
      ]);
    });
  });

  describe('an account', () => {
    test('a search leads to the account, whose first screen answers the seven questions', async () => {
      await open('/');
      await button('Sign out').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('anna@example.com');
      await page.keyboard.press('Enter');
      const said = page.getByRole('region', { name: 'Answers' });
      await said.waitFor();
      expect(callsOf('POST /api/find').map(({ body }) => body)).toEqual([{ text: 'anna@example.com' }]);
      expect(new URL(page.url()).pathname).toBe(accountPath);
      const text = await textOf(said);
      expect(text).toContain(
        'Anna’s phone (ios), 27 Nov 2026, 10:02 (07:02 UTC): the person ended it from another device',
      );
      expect(text).toContain('The other device: Anna’s laptop (web).');
      expect(text).toContain('Code (reset the password), 27 Nov 2026, 10:02 (07:02 UTC): accepted by mail');
      expect(text).toContain('refused by mail: given up after 3 attempts');
      expect(text).toContain('Logins from new networks are locked until 28 Nov 2026, 00:30 (27 Nov 2026, 21:30 UTC).');
      expect(text).toContain('recovery codes left: 8');
      expect(text).toContain('A removal of the second factor runs, ordered by mail');
      expect(text).toMatch(/apple, linked .+ Disabled by the provider, .+ Its mail relay is off since/);
      expect(text).toContain(`${script} (web): since`);
      expect(text).toContain('The account will be erased 28 Nov 2026');
      expect(text).toMatch(/Which devices .+\?[\s\S]+Password changed 27 Nov 2026/);
    });

    test('a quiet account says that a login works and nothing has happened', async () => {
      server.use(accountCall, answers.quietAccount);
      await open(accountPath);
      const said = page.getByRole('region', { name: 'Answers' });
      for (const sentence of [
        'A login works now.',
        'No session has ended.',
        'No mail was ordered.',
        'No second factor.',
      ])
        await said.getByText(sentence).waitFor();
      for (const sentence of ['None is linked.', 'No device is signed in.', 'No deletion is ordered.'])
        await said.getByText(sentence).waitFor();
      await see('SERVER_KEYS_FILE is not set');
      await button('Order the deletion').waitFor();
      await assertAccessible();
    });

    test('every reason of an end has its sentence, and older sessions come by a button', async () => {
      await open(accountPath);
      const list = page.getByRole('list', { name: 'Ended sessions' });
      await button('More: Ended sessions').click();
      await list.getByText('used for too long').waitFor();
      const sentences = await list.locator('li > div > p:first-child').allInnerTexts();
      expect(sentences).toHaveLength(11);
      expect(new Set(sentences.map((sentence) => sentence.replace(/^.*UTC\): /, ''))).size).toBe(11);
      const all = sentences.join('\n');
      expect(all).toContain('The provider’s notice: apple consent_revoked.');
      expect(all).toContain('By Ben, because: ticket 4711.');
      expect(all).toContain(`Now signed in by the session ${liveSession}.`);
      expect(await button('More: Ended sessions').count()).toBe(0);
      expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Ended sessions');
    });

    test('the session that was searched for is explained at the top and marked in its list', async () => {
      await open(`${accountPath}?session=${endedSession(1)}`);
      await page.getByRole('note').filter({ hasText: 'the person logged out on this device' }).waitFor();
      expect(await textOf(page.locator('[aria-current=true]'))).toContain('Device 1');
      await page.goto(`${accountPath}?session=${liveSession}`);
      await page.getByRole('note').filter({ hasText: 'It is signed in on' }).waitFor();
      await page.goto(`${accountPath}?session=${endedSession(9)}`);
      await page.getByRole('note').filter({ hasText: 'It ended before those' }).waitFor();
    });

    test('the timeline is read only when somebody asks for it', async () => {
      await open(accountPath);
      await button('Show: Timeline').waitFor();
      expect(callsOf(`${accountCall}/timeline`)).toEqual([]);
      await button('Show: Timeline').click();
      await page.getByRole('list', { name: 'Timeline' }).getByText('inserted into users').waitFor();
      const trace = page.getByRole('link', { name: 'Trace' }).first();
      expect(await trace.getAttribute('href')).toBe(`https://traces.example.com/search?id=${requestId}`);
    });

    test('an id is copied by one click, which is announced', async () => {
      await open(accountPath);
      await page.getByRole('button', { name: userId, exact: true }).click();
      await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(userId);
    });

    test('a viewer sees no button of an action, and no way to the address', async () => {
      server.use('GET /api/me', { ...answers.me, role: 'viewer', actions: [] });
      await open(accountPath);
      await see('Anna’s phone');
      expect(await page.locator('[aria-haspopup=dialog]').count()).toBe(0);
      expect(await button('Show the address').count()).toBe(0);
    });

    test('a browser’s back button leads to the earlier view', async () => {
      await open(accountPath);
      await page.getByRole('link', { name: script }).click();
      await page.getByRole('heading', { name: 'Group' }).waitFor();
      expect(await page.evaluate('document.activeElement.tagName')).toBe('MAIN');
      await page.goBack();
      await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor();
    });
  });

  describe('actions', () => {
    test('every action has a button on some view, a text of what will happen, and its own plan', async () => {
      await open(accountPath);
      const quiet = { ...answers.quietAccount, methods: { ...account.methods, second_factor: null } };
      const stages: readonly (readonly [path: string, AccountOf: object])[] = [
        [accountPath, account],
        [
          accountPath,
          {
            ...quiet,
            methods: { ...quiet.methods, second_factor: { ...account.methods.second_factor, removal: null } },
          },
        ],
        [`/events/${eventId}`, account],
        ['/system', account],
      ];
      for (const [path, shown] of stages) {
        server.use(accountCall, shown);
        await page.goto(path);
        await page.getByText('Reading …').waitFor({ state: 'detached' });
        if (path === '/system') await button('Show: Dead letters').click();
        if (path === '/system') await button(/^Discard/).waitFor();
        await page.locator('[aria-haspopup=dialog]').first().waitFor();
        const buttons = await page.locator('[aria-haspopup=dialog]').all();
        for (const each of buttons) {
          await each.click();
          const dialog = page.getByRole('dialog');
          await dialog.locator('blockquote').filter({ hasText: 'Delete the account' }).waitFor();
          expect((await textOf(dialog.locator('p').first())).length).toBeGreaterThan(20);
          await page.keyboard.press('Escape');
        }
      }
      const planned = callsOf('POST /api/plans').map(({ body }) => (body as { action: string }).action);
      expect([...new Set(planned)].sort()).toEqual([...actionNames].sort());
      expect(callsOf('POST /api/actions')).toEqual([]);
    });

    test('an action says what will happen, asks the service’s own question, and shows the result', async () => {
      await open(accountPath);
      const opener = button('End all sessions');
      await opener.click();
      const dialog = page.getByRole('dialog', { name: 'End all sessions' });
      await dialog.getByText('Every device of the account is signed out at once.').waitFor();
      expect(await textOf(dialog.locator('[lang=en]').first())).toContain('anna@example.com');
      await dialog.getByText(ticket).waitFor();
      await assertAccessible();
      await dialog.getByRole('button', { name: 'Confirm' }).click();
      await dialog.getByText('Done.').waitFor();
      await dialog.getByText('A worker closes the open streams later.').waitFor();
      await dialog.getByRole('button', { name: requestId }).waitFor();
      expect(callsOf('POST /api/actions')).toEqual([
        {
          ...{ what: 'POST /api/actions', reason: ticket, token: answers.me.token },
          body: { action: 'sessions.end_all', target: userId, digest: answers.consent.digest },
        },
      ]);
      // The view behind is read again.
      expect(callsOf(accountCall)).toHaveLength(2);
      await dialog.getByRole('button', { name: 'Close' }).click();
      expect(await page.evaluate('document.activeElement.textContent')).toBe('End all sessions');
    });

    test('each choice of a deletion’s days gets a plan of its own', async () => {
      server.use(accountCall, answers.quietAccount);
      await open(accountPath);
      await button('Order the deletion').click();
      const days = page.getByLabel('Days until the erasure');
      expect(await days.inputValue()).toBe('14');
      await days.selectOption('3');
      await button('Confirm').click();
      await see('Done.');
      const bodies = server.calls().flatMap(({ body }) => (body ? [body] : []));
      expect(bodies).toEqual([
        { action: 'deletion.order', target: userId },
        { action: 'deletion.order', target: userId, options: { grace_days: 3 } },
        { action: 'deletion.order', target: userId, options: { grace_days: 3 }, digest: answers.consent.digest },
      ]);
    });

    test('an invite is revoked with its group', async () => {
      await open(accountPath);
      await button('Revoke the invite: a1b2c3d4e5f6').click();
      await page.getByRole('dialog').locator('blockquote').filter({ hasText: 'Delete' }).waitFor();
      expect(callsOf('POST /api/plans').map(({ body }) => body)).toEqual([
        { action: 'invite.revoke', target: 'a1b2c3d4e5f6', options: { group_id: groupId } },
      ]);
    });

    test('an action that needs a second person says so, and gives a link to send', async () => {
      server.use('POST /api/plans', { question: 'Sure?', digest: 'd', needs_consent: true });
      server.use('POST /api/actions', { state: 'waiting', consent: { ...answers.consent, is_own: true } });
      await open(accountPath);
      await button('Export the data').click();
      await see('It happens only when a second person consents.');
      await button('Ask a second person').click();
      await page.getByRole('dialog').getByText(`${server.url}/consents/${consentId}`).click();
      await page.getByRole('dialog').getByText('Copied').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`${server.url}/consents/${consentId}`);
      await page.getByRole('dialog').getByRole('link').click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('heading', { name: 'Consent', level: 1 }).waitFor();
    });

    test('an export is offered as a file', async () => {
      server.use('POST /api/actions', {
        ...answers.done,
        problem: null,
        data: { user: { email: 'anna@example.com' } },
      });
      await open(accountPath);
      await button('Export the data').click();
      await button('Confirm').click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Save the data as a file' }).click(),
      ]);
      expect(JSON.parse(await readFile(await file.path(), 'utf8'))).toEqual({ user: { email: 'anna@example.com' } });
    });

    test('a plan that has changed is refused, shown, and made again', async () => {
      server.use('POST /api/actions', () => refusal(409, 'changed', 'The account was changed in between.'));
      await open(accountPath);
      await button('End all sessions').click();
      await button('Confirm').click();
      const alert = page.getByRole('alert');
      await alert.getByText('It has changed in the meantime.').waitFor();
      await alert.getByText('The account was changed in between.').waitFor();
      await alert.getByRole('button', { name: requestId }).waitFor();
      await assertAccessible();
      await alert.getByRole('button', { name: 'Try again' }).click();
      await alert.waitFor({ state: 'detached' });
      expect(callsOf('POST /api/plans')).toHaveLength(2);
    });

    test('a second person gives a consent with the digest of what they have read', async () => {
      await open(`/consents/${consentId}`);
      await button('Consent: do it now').click();
      await see('Done.');
      expect(callsOf(`POST /api/consents/${consentId}/give`).map(({ body }) => body)).toEqual([
        { digest: answers.consent.digest },
      ]);
    });

    test('the person who has asked for a consent can take it back, and not give it', async () => {
      const path = `/api/consents/${consentId}`;
      server.use(`GET ${path}`, { ...answers.consent, is_own: true });
      server.use(`POST ${path}/refuse`, () => {
        server.use(`GET ${path}`, { ...answers.consent, is_own: true, state: 'refused' });
        return { status: 200, body: {} };
      });
      await open(`/consents/${consentId}`);
      await see('You asked for it');
      expect(await button('Consent: do it now').count()).toBe(0);
      await button('Take it back').click();
      await see('Refused.');
      expect(await button('Take it back').count()).toBe(0);
    });

    test('a reader whose role may not consent gets no button for it', async () => {
      server.use(`GET /api/consents/${consentId}`, { ...answers.consent, question: '', digest: '' });
      await open(`/consents/${consentId}`);
      await see('Your role may not consent');
      expect(await button('Consent: do it now').count()).toBe(0);
    });

    test('the header counts the consents that wait for the reader', async () => {
      await open('/');
      await page.getByRole('link', { name: 'Consents: 1' }).click();
      await page.getByRole('link', { name: 'Order the deletion' }).click();
      await see('Asked for by Ben');
    });
  });

  test('the system is read again by a button only, and dead letters come part by part', async () => {
    await open('/system');
    await see('See docs/runbooks.');
    await button('Show: Dead letters').click();
    await button('More: Dead letters').click();
    await waitUntil(async () => (await button(/^Discard/).count()) === 2, { what: 'both parts', timeoutMs: patience });
    expect(callsOf('GET /api/system')).toHaveLength(1);
    await button('Read again').click();
    await waitUntil(async () => callsOf('GET /api/system').length === 2, {
      what: 'a second read',
      timeoutMs: patience,
    });
  });

  test('every error is told in words with the id of the request, in both languages', async () => {
    await open('/');
    let read: () => Promise<unknown> = () => page.goto(accountPath);
    for (const code of errorCodes.filter((each) => each !== 'signed_out' && each !== 'reason_missing')) {
      server.use(accountCall, () => refusal(409, code, `The server’s own words of ${code}.`));
      await read();
      const alert = page.getByRole('alert');
      await alert.getByText(`The server’s own words of ${code}.`).waitFor();
      await alert.getByRole('button', { name: requestId }).waitFor();
      const english = await textOf(alert);
      await button('ru').click();
      await alert
        .getByText(/[а-я]{4}/)
        .first()
        .waitFor();
      expect([code, await textOf(alert)]).not.toEqual([code, english]);
      await button('en').click();
      read = () => button('Try again').click();
    }
  });

  test('a server that cannot be reached is told in words, and is tried again by a button', async () => {
    await open('/');
    await button('Sign out').waitFor();
    await context.setOffline(true);
    await page.getByRole('link', { name: 'System' }).click();
    await page.getByRole('alert').getByText('A server does not answer.').waitFor();
    await context.setOffline(false);
    await button('Try again').click();
    await see('See docs/runbooks.');
  });

  test('names that are scripts are shown as text in every view', async () => {
    await open(accountPath);
    await see(script);
    await page.goto(`/groups/${groupId}`);
    await see(script);
    expect(await page.locator('main img, main script').count()).toBe(0);
  });

  test('the page is used by keyboard alone, from the search to an action and back', async () => {
    await open('/');
    const focused = () => page.evaluate<string>('document.activeElement.innerText ?? ""');
    async function tabTo(name: string): Promise<void> {
      for (let n = 0; n < 80; n += 1) {
        await page.keyboard.press('Tab');
        if ((await focused()) === name) return;
      }
      throw new Error(`Tab never reaches ${name}`);
    }
    await button('Sign out').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('anna@example.com');
    await page.keyboard.press('Enter');
    await see('Anna’s phone');
    await tabTo('End all sessions');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.locator('blockquote').filter({ hasText: 'Delete' }).waitFor();
    // "/" is no shortcut in a dialog, and Tab stays in it.
    await page.keyboard.press('/');
    const isInside = () =>
      page.evaluate('!!document.activeElement.closest("dialog") || document.activeElement === document.body');
    for (let n = 0; n < 8; n += 1) {
      await page.keyboard.press('Tab');
      expect(await isInside()).toBe(true);
    }
    await tabTo('Confirm');
    await page.keyboard.press('Space');
    await dialog.getByText('Done.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await focused()).toBe('End all sessions');
  });
});
