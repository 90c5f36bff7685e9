import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { waitUntil } from '@auth-account/local-stack';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { addAuthenticator, hasChromium, launchChromium } from '../../support/chromium.ts';
import { createProcessGuard } from '../../support/create-process-guard.ts';
import { upEnvironment } from '../../support/up-environment.ts';
import { type Program, runProgram } from './run-program.ts';

/** The page's window, with the global of axe-core. */
interface PageWindow {
  readonly document: { getAnimations(): readonly unknown[] };
  readonly axe: {
    run(): Promise<{
      readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
    }>;
  };
}
declare const window: PageWindow;

/** Runs in the page, and returns each text of an input that is not wholly visible. */
const cutTexts = `[...document.querySelectorAll('input')].filter((input) => input.scrollWidth > input.clientWidth)
  .map((input) => input.value)`;

/** Runs in the page, and returns true if the newest line can be seen without scrolling. */
const isNewestInView = `(() => {
  const { bottom } = [...document.querySelectorAll('.arrow')].at(-1).getBoundingClientRect();
  const picture = document.querySelector('[role=log]').getBoundingClientRect();
  return bottom <= Math.min(picture.bottom, innerHeight) && bottom > picture.top;
})()`;

/** Limit for hangs only. */
const patience = 90_000;
const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

(hasChromium('test/e2e/local-stack/playground.system.test.ts') ? describe : describe.skip)('the playground', () => {
  let dir: string;
  let up: Program;
  let url: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let foreign: string[];
  let broken: string[];

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'auth-account-playground-'));
    const guard = createProcessGuard(dir);
    const env = await upEnvironment(join(dir, 'data'));
    up = runProgram('../../../libs/local-stack/bin/up.ts', env);
    if (up.child.pid !== undefined) guard.watch(up.child.pid);
    await up.waitFor('Ready after');
    url = `http://127.0.0.1:${env.LOCAL_SUBSCRIBER_PORT}/`;
    browser = await launchChromium();
  }, 180_000);

  afterAll(async () => {
    await browser?.close();
    up?.child.kill('SIGTERM');
    await up?.ended;
    await rm(dir, { recursive: true, force: true });
  });

  async function open(options: Parameters<Browser['newContext']>[0] = {}): Promise<void> {
    context = await browser.newContext({ viewport: { width: 1_400, height: 900 }, locale: 'en', ...options });
    page = await context.newPage();
    page.setDefaultTimeout(patience);
    foreign = [];
    broken = [];
    page.on('request', (request) => {
      if (!/^(127\.0\.0\.1|localhost)$/.test(new URL(request.url()).hostname)) foreign.push(request.url());
    });
    page.on('pageerror', (error) => broken.push(error.message));
    await page.goto(url);
    await page.getByRole('log').waitFor();
  }

  const phoneOf = (name: string) => page.getByRole('region', { name: `${name}’s phone` });
  async function lines(): Promise<string[]> {
    const texts = await page.getByRole('log').getByRole('listitem').allInnerTexts();
    return texts.map((text) => text.replaceAll(/\s+/g, ' '));
  }

  /** Waits until the picture has a matching line. */
  async function drawn(line: RegExp): Promise<void> {
    await page.getByRole('log').getByRole('listitem').filter({ hasText: line }).first().waitFor();
  }

  /** Waits until the expression is true in the page. Its policy allows no `waitForFunction` with a text. */
  const holds = (expression: string) =>
    waitUntil(() => page.evaluate<boolean>(expression), { what: expression, timeoutMs: patience, intervalMs: 50 });

  const caption = (text: string | RegExp) => page.getByRole('status').filter({ hasText: text });

  async function begin(name: string): Promise<void> {
    await page.getByRole('navigation').getByRole('button', { name }).click();
    await caption('playing …').waitFor();
  }

  async function play(name: string): Promise<void> {
    await begin(name);
    await caption('playing …').waitFor({ state: 'detached' });
    if (await caption('another way').count()) throw new Error(`the story failed:\n${(await lines()).join('\n')}`);
  }

  async function fill(phone: Locator, label: string, value: string): Promise<void> {
    await phone.getByLabel(label).fill(value);
  }

  const press = (phone: Locator, name: string) => phone.getByRole('button', { name, exact: true }).click();

  async function assertAccessible(): Promise<void> {
    await page.evaluate(await readFile(axePath, 'utf8'));
    // Colours can be compared only when no animation runs any more.
    await page.waitForFunction(() => window.document.getAnimations().length === 0);
    const { violations } = await page.evaluate(() => window.axe.run());
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  }

  describe('plays a story', () => {
    beforeEach(() => open());
    afterEach(async () => {
      expect(await page.evaluate(cutTexts)).toEqual([]);
      expect(foreign).toEqual([]);
      expect(broken).toEqual([]);
      await context.close();
    });

    test('of a registration: the transaction with its event, the delivery, the login, the stream', async () => {
      await play('Move in');
      await drawn(/one transaction: .*insert users, insert groups, insert outbox/);
      await drawn(/event into the queue/);
      await drawn(/event: registered/);
      await drawn(/POST \/auth\/login/);
      await drawn(/opens its stream/);
      await phoneOf('Anna').getByText('· you · owner').waitFor();
      // PLAYGROUND_PICTURE=docs/images/playground.png takes the README's picture again.
      const { PLAYGROUND_PICTURE: path } = process.env;
      if (path) await page.screenshot({ path, animations: 'disabled' });
    });

    test('of an invite: both phones show both members', async () => {
      await play('Share');
      await drawn(/POST \/invites\/…\/accept/);
      await drawn(/stream closed: 4004/);
      for (const name of ['Anna', 'Ben']) {
        const members = phoneOf(name).getByRole('list', { name: 'Members' }).getByRole('listitem');
        await members.nth(1).waitFor();
        expect(await members.count()).toBe(2);
      }
    });

    test('of a forgotten password: a code by mail, a new password, and a login with it', async () => {
      await play('Forgotten password');
      await drawn(/mail: code/);
      await drawn(/POST \/auth\/password-reset\/confirm/);
      await page.getByRole('region', { name: 'Mailbox' }).getByText('is your code').waitFor();
      await phoneOf('Ben')
        .getByText('● stream')
        .or(phoneOf('Ben').getByText('stream', { exact: true }))
        .waitFor();
    });

    test('of a lost answer: the same token again, and nobody is logged out', async () => {
      await begin('Lost answer');
      await caption('1/3 Ten minutes later').waitFor();
      await caption('2/3 The client sends the same refresh token again. It was spent already').waitFor();
      await caption('playing …').waitFor({ state: 'detached' });
      await drawn(/the answer is lost/);
      const all = await lines();
      const lost = all.findIndex((line) => line.includes('the answer is lost'));
      expect(all.slice(lost).some((line) => line.includes('POST /auth/refresh'))).toBe(true);
      expect(await phoneOf('Anna').getByRole('button', { name: 'Log out' }).count()).toBe(1);
    });

    test('of a logout without a network: the service is told when there is one', async () => {
      await play('Offline logout');
      await drawn(/no network: kept for later/);
      await drawn(/POST \/auth\/logout/);
      await phoneOf('Ben').getByRole('button', { name: 'Log in' }).waitFor();
      // Only a logout is kept for later, so a login without a network fails.
      await press(phoneOf('Ben'), 'Airplane mode');
      await press(phoneOf('Ben'), 'Log in');
      await drawn(/: no network$/);
    });

    test('of a wrong clock: nothing happens', async () => {
      await play('Wrong clock');
      await drawn(/POST \/auth\/refresh/);
      expect((await lines()).some((line) => /: 4\d\d/.test(line))).toBe(false);
      await phoneOf('Anna').getByText('this phone').waitFor();
    });

    test('of a stranger: the owner is told, and ends it', async () => {
      await play('Not me!');
      await drawn(/DELETE \/auth\/sessions\/…/);
      await drawn(/close the stream: SESSION_REVOKED/);
      await drawn(/stream closed: 4001 SESSION_REVOKED/);
      await phoneOf('Ben').getByText('Logged out: ended on another device').waitFor();
      await drawn(/401, as expected: the session has ended \(ended on another device\)/);
      expect((await lines()).filter((line) => /\b401\b(?!, as expected)/.test(line))).toEqual([]);
    });

    test('of a stolen token: its second use ends the session for both', async () => {
      await play('Stolen token');
      await drawn(/somebody else: POST \/auth\/refresh/);
      await drawn(/close the stream: SESSION_REVOKED/);
      await phoneOf('Anna').getByText('Logged out: somebody else has used this session').waitFor();
    });

    test('of a passkey: it is made, logs in without a password, and is dropped by the browser', async () => {
      const { credentials } = await addAuthenticator(page);
      await play('Passkey');
      await drawn(/POST \/account\/passkeys/);
      await drawn(/POST \/auth\/passkeys\/login/);
      await drawn(/DELETE \/account\/passkeys\/…/);
      expect((await lines()).filter((line) => line.includes('POST /auth/login'))).toHaveLength(1);
      await waitUntil(async () => (await credentials()).length === 0, {
        what: 'the browser has dropped it',
        timeoutMs: patience,
      });
    });

    test('of a provider: an address joins no accounts, a proof links them, and a new person registers', async () => {
      await play('Local ID');
      const requests = (path: string) => async () => (await lines()).filter((line) => line.includes(`POST ${path}`));
      expect(await requests('/auth/federated/link')()).toHaveLength(1);
      // Anna is asked for a proof, and comes again. The other person is asked for a space, and registers.
      expect(await requests('/auth/federated/local')()).toHaveLength(4);
      await phoneOf('Anna').getByRole('button', { name: 'Log out' }).waitFor();
      const ben = phoneOf('Ben');
      await press(ben, 'Continue with Local ID');
      const provider = ben.frameLocator('iframe');
      await provider.getByLabel('Address').waitFor();
      await assertAccessible();
      await press(ben, 'Close the page');
      await ben.getByRole('button', { name: 'Log in', exact: true }).waitFor();
    });

    test('of a stolen password: it opens nothing without the second factor, with which its owner logs in', async () => {
      await play('Stolen password');
      await drawn(/POST \/account\/totp\/confirm/);
      const [factors, refused] = ['POST /auth/login/second-factor', /api → Ben: 403/].map((text) =>
        page.getByRole('log').getByRole('listitem').filter({ hasText: text }),
      );
      expect(await factors?.count()).toBe(2);
      // The first is the demand for the code, and the second is the answer to the guess.
      expect(await refused?.count()).toBe(2);
      await phoneOf('Ben').getByRole('button', { name: 'Log in', exact: true }).waitFor();
      await phoneOf('Anna').getByRole('button', { name: 'Log out' }).waitFor();
    });

    test('of a stolen mailbox: the owner is told of the removal that it has ordered, and stops it', async () => {
      await play('Stolen mailbox');
      await drawn(/POST \/auth\/second-factor-removal\/confirm/);
      await drawn(/message: message/);
      await drawn(/DELETE \/account\/second-factor-removal/);
      const anna = phoneOf('Anna');
      await press(anna, 'Security');
      await anna.getByRole('button', { name: 'Switch it off' }).waitFor();
      expect(await anna.getByText('Not you?').count()).toBe(0);
    });

    test('of a gateway that dies: nobody is logged out, and what was missed is read again', async () => {
      await begin('Gateway dies');
      await caption('2/3').waitFor();
      await page.getByRole('button', { name: 'Pause' }).click();
      // The gateway goes on during the reader's pause.
      await delay(3_000);
      await page.getByRole('button', { name: 'Pause' }).click();
      await caption('playing …').waitFor({ state: 'detached' });
      const all = await lines();
      const cut = all.findIndex((line) => line.includes('stream closed: 1006'));
      const joined = all.findIndex((line) => line.includes('POST /invites/…/accept'));
      const again = all.findLastIndex((line) => line.includes('Anna → gateway: opens its stream'));
      expect([cut > 0, joined > cut, again > joined]).toEqual([true, true, true]);
      expect(await phoneOf('Anna').getByRole('list', { name: 'Members' }).getByRole('listitem').count()).toBe(2);
    });

    test('at the reader’s pace, and leads to what is guaranteed', async () => {
      await page.getByRole('button', { name: 'Pause' }).click();
      await begin('Move in');
      await caption('1/3').waitFor();
      // Without the pause, the caption would be shown for less than two seconds.
      await delay(3_000);
      expect(await lines()).toEqual([]);
      await page.getByRole('button', { name: 'Pause' }).click();
      await caption('playing …').waitFor({ state: 'detached' });
      const [guide] = await Promise.all([
        context.waitForEvent('page'),
        page.getByRole('link', { name: 'What is guaranteed' }).click(),
      ]);
      await guide.getByRole('heading', { name: 'Registration' }).waitFor();
      await guide.getByText('A registration stores one user').waitFor();
    });
  });

  test('shows what was sent and answered when a line is pressed, with mouse and keys', async () => {
    await open();
    // The mails of earlier tests belong to other visitors.
    await page.getByText('No mail yet.').waitFor();
    await play('Move in');
    const log = page.getByRole('log');
    await log.getByRole('button', { name: /POST \/auth\/login/ }).click();
    await log.getByRole('heading', { name: 'Request' }).waitFor();
    const shown = (await log.locator('pre').allInnerTexts()).join('\n');
    expect(shown).toMatch(/^POST \/api\/v1\/auth\/login\n/);
    expect(shown).toMatch(/idempotency-key: /);
    expect(shown).toMatch(/"password": "a fridge and two shelves"/);
    expect(shown).toMatch(/^200$/m);
    expect(shown).toMatch(/"access_token": ".{20}…"/);
    await assertAccessible();
    await log.getByRole('button', { name: /POST \/auth\/login/ }).click();
    await log.locator('pre').first().waitFor({ state: 'detached' });
    await log.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await log.locator('pre').first().waitFor();
    await context.close();
  });

  test('makes trouble: a captive portal, and a stream that is cut in silence', async () => {
    await open();
    const anna = phoneOf('Anna');
    await play('Move in');
    await press(anna, 'Captive portal');
    await press(anna, 'Devices');
    await drawn(/a login page of the network answers/);
    await anna.getByText('No answer. Is there a network?').waitFor();
    await press(anna, 'Captive portal');
    await press(anna, 'Home');
    await anna.getByText('stream', { exact: true }).waitFor();
    const opened = async () =>
      (await lines()).filter((line) => line.includes('Anna → gateway: opens its stream')).length;
    const before = await opened();
    await press(anna, 'Half-open stream');
    await press(anna, '10 minutes later');
    await press(anna, 'Devices');
    await drawn(/message: ping, lost in silence/);
    await anna.getByRole('button', { name: 'Half-open stream', pressed: false }).waitFor();
    expect(await opened()).toBe(before + 1);
    expect(broken).toEqual([]);
    await context.close();
  });

  test('works by hand: an office, a guest by invite, a device ended, a code taken from the mailbox', async () => {
    await open();
    const [anna, ben] = [phoneOf('Anna'), phoneOf('Ben')];
    await anna.getByLabel('Space').selectOption('a new office');
    await press(anna, 'Register');
    await anna.getByText('The account exists. Log in.').waitFor();
    await press(anna, 'Log in');
    await anna.getByRole('heading', { name: 'Office' }).waitFor();
    await press(anna, 'Invite somebody');
    await press(anna, 'Hand it to Ben');
    await press(ben, 'Register');
    await ben.getByText('The account exists. Log in.').waitFor();
    await press(ben, 'Log in');
    await ben.getByRole('heading', { name: 'Office' }).waitFor();
    await press(ben, 'Devices');
    await ben.getByText('this phone').waitFor();
    await press(ben, 'Log out');
    await press(ben, 'Forgot the password?');
    await press(ben, 'Send a code');
    await page.getByRole('button', { name: 'Use the code' }).click();
    await fill(ben, 'New password', 'two kettles and a pan');
    await press(ben, 'Set the password');
    await ben.getByText('New password set').waitFor();
    await press(ben, 'Log in');
    await ben.getByRole('heading', { name: 'Office' }).waitFor();
    // The page must show the same after a reload.
    await page.reload();
    await ben.getByRole('heading', { name: 'Office' }).waitFor();
    expect(broken).toEqual([]);
    await context.close();
  });

  test('works by hand: an authenticator app, and a login with its code after a reload', async () => {
    await open();
    const anna = phoneOf('Anna');
    const takeCode = () => anna.getByRole('button', { name: /^Take \d{6}$/ }).click();
    await press(anna, 'Register');
    await anna.getByText('The account exists. Log in.').waitFor();
    await press(anna, 'Log in');
    await press(anna, 'Security');
    await press(anna, 'Switch it on');
    await takeCode();
    await assertAccessible();
    await press(anna, 'Confirm');
    await anna.getByRole('button', { name: 'Switch it off' }).waitFor();
    await press(anna, 'Log out');
    await press(anna, 'Log in');
    await anna.getByLabel('Code of the app').waitFor();
    // The login that waits is only in memory.
    await page.reload();
    await press(anna, 'Log in');
    await takeCode();
    await assertAccessible();
    await press(anna, 'Confirm');
    await anna.getByRole('heading', { name: 'Household' }).waitFor();
    expect(broken).toEqual([]);
    await context.close();
  });

  test('shows errors of the service in the reader’s language', async () => {
    await open({ locale: 'ru' });
    expect(await page.locator('html').getAttribute('lang')).toBe('ru');
    const anna = page.getByRole('region', { name: 'Телефон: Анна' });
    await press(anna, 'У меня есть аккаунт');
    await press(anna, 'Войти');
    await anna
      .getByRole('status')
      .filter({ hasText: /[а-я]{4}/i })
      .waitFor();
    await page.getByRole('button', { name: 'en', exact: true }).click();
    await page.getByRole('heading', { name: 'What happens inside' }).waitFor();
    await context.close();
  });

  test('is used by keyboard alone', async () => {
    await open();
    const focusOn = async (label: string) => {
      for (let n = 0; n < 60; n += 1) {
        await page.keyboard.press('Tab');
        const name = await page.evaluate(
          'document.activeElement?.textContent || document.activeElement?.labels?.[0].textContent',
        );
        if (name === label) return;
      }
      throw new Error(`Tab never reaches ${label}`);
    };
    await focusOn('E-mail');
    await page.keyboard.press('Enter');
    await phoneOf('Anna').getByText('The account exists. Log in.').waitFor();
    // The pressed button is gone, but the focus must stay in its phone, so that Tab goes on from there.
    await holds("!!document.activeElement?.closest('.anna')");
    await focusOn('Log in');
    await page.keyboard.press('Space');
    await phoneOf('Anna').getByRole('heading', { name: 'Household' }).waitFor();
    await context.close();
  });

  test.each([
    ['in light colours', { colorScheme: 'light' }],
    ['in dark colours', { colorScheme: 'dark' }],
    ['at a phone’s width', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
  ] as const)('is accessible %s, and nothing sticks out', async (_, options) => {
    await open(options);
    await assertAccessible();
    // A wrapped caption and a mail make the picture smaller.
    for (const story of 'viewport' in options ? ['Forgotten password', 'Stolen token', 'Move in'] : ['Move in']) {
      await begin(story);
      while (await caption('playing …').isVisible()) {
        if ((await lines()).length > 0) await holds(isNewestInView);
        await delay(100);
      }
      await holds(isNewestInView);
    }
    await assertAccessible();
    if ('viewport' in options) {
      await page.getByRole('button', { name: 'Anna', exact: true }).click();
      await phoneOf('Anna').waitFor();
      await assertAccessible();
    }
    await press(phoneOf('Anna'), 'Devices');
    await phoneOf('Anna').getByText('this phone').waitFor();
    await assertAccessible();
    expect(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(
      true,
    );
    await context.close();
  });
});
