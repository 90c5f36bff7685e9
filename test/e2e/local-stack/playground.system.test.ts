import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { waitUntil } from '@auth-account/local-stack';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { addAuthenticator, hasChromium, launchChromium } from '../../support/client/chromium.ts';
import { type GuardedFolder, openGuardedFolder } from '../../support/processes/guarded-folder.ts';
import { upEnvironment } from '../../support/processes/up-environment.ts';
import { cheapHashes } from '../../support/test-environment.ts';
import { type Program, runProgram } from './run-program.ts';

/** The page's window, with the global of axe-core. */
interface PageWindow {
  readonly document: { getAnimations(): readonly unknown[] };
  readonly axe: {
    run(options: object): Promise<{
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

/** Runs in each page before its scripts, and records each text of the stories' captions. */
const recordCaptions = `
window.captions = [];
new MutationObserver(() => {
  const text = document.querySelector('.caption')?.textContent;
  if (text && text !== window.captions.at(-1)) window.captions.push(text);
}).observe(document, { subtree: true, childList: true, characterData: true });`;

/** Runs in the page. As soon as the second caption of a story is shown, it presses "Pause". */
const pauseAtSecondCaption = `
const observer = new MutationObserver(() => {
  if (!document.querySelector('.caption')?.textContent.startsWith('2/')) return;
  observer.disconnect();
  [...document.querySelectorAll('.pace button')].find(({ textContent }) => textContent.includes('Pause')).click();
});
observer.observe(document, { subtree: true, childList: true, characterData: true });`;

/** Time for which a caption is shown, in milliseconds. It is short, but long enough for the reader's pause. */
const readingMs = 50;
/** Limit for hangs only. */
const patience = 90_000;
const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

(hasChromium() ? describe : describe.skip)('the playground', () => {
  let up: Program;
  let port: string;
  let consolePort: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let foreign: string[];
  let broken: string[];
  let folder: GuardedFolder;

  beforeAll(async () => {
    folder = await openGuardedFolder('playground');
    const env: NodeJS.ProcessEnv = { ...(await upEnvironment(join(folder.dir, 'data'))), ...cheapHashes };
    up = runProgram('../../../libs/local-stack/bin/up.ts', env);
    if (up.child.pid !== undefined) folder.watch(up.child.pid);
    await up.waitFor('Ready after');
    port = String(env.LOCAL_SUBSCRIBER_PORT);
    consolePort = String(env.CONSOLE_PORT);
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    up?.child.kill('SIGTERM');
    await up?.ended;
    await folder.close();
  });

  afterEach(async () => {
    try {
      expect(foreign).toEqual([]);
      expect(broken).toEqual([]);
    } finally {
      await context.close();
    }
  });

  const quickly = (ms: number) => `http://localhost:${port}/?reading=${ms}`;

  /** Opens a page of a new visitor. */
  async function open(
    options: Parameters<Browser['newContext']>[0] = {},
    address: string = quickly(readingMs),
  ): Promise<void> {
    const defaults = { viewport: { width: 1_400, height: 900 }, locale: 'en', reducedMotion: 'reduce' } as const;
    context = await browser.newContext({ ...defaults, ...options });
    await context.addInitScript(recordCaptions);
    page = await context.newPage();
    await page.clock.install();
    page.setDefaultTimeout(patience);
    foreign = [];
    broken = [];
    page.on('request', (request) => {
      if (!/^(127\.0\.0\.1|localhost)$/.test(new URL(request.url()).hostname)) foreign.push(request.url());
    });
    page.on('pageerror', (error) => broken.push(error.message));
    await page.goto(address);
    await page.getByRole('log').waitFor();
    // What the services report before would be missing in the picture.
    await page.locator('.live.on').waitFor();
  }

  const phoneOf = (name: string) => page.getByRole('region', { name: `${name}’s phone` });
  /** Lines of the picture for this visitor's phones. Reports on an earlier test's visitor may come late. */
  const ownLines = '.chapter:not(.others) > li';
  const linesOfOthers = '.chapter.others > li';
  async function lines(): Promise<string[]> {
    const texts = await page.getByRole('log').locator(ownLines).allInnerTexts();
    return texts.map((text) => text.replaceAll(/\s+/g, ' '));
  }

  /** Waits until the picture has a matching line. */
  const drawn = (line: RegExp, among = ownLines): Promise<void> =>
    page.getByRole('log').locator(among).filter({ hasText: line }).first().waitFor();

  /** Waits until the expression is true in the page. Its policy allows no `waitForFunction` with a text. */
  const holds = (expression: string) =>
    waitUntil(() => page.evaluate<boolean>(expression), { what: expression, timeoutMs: patience, intervalMs: 50 });

  const caption = (text: string | RegExp) => page.getByRole('status').filter({ hasText: text });

  /** Waits until the lines of the picture are as wanted. A failure shows them. */
  async function linesAre(what: string, isSo: (all: readonly string[]) => boolean): Promise<void> {
    await waitUntil(async () => isSo(await lines()), { what, timeoutMs: patience }).catch(async (cause: Error) => {
      throw new Error(`${cause.message}\n${(await lines()).join('\n')}`, { cause });
    });
  }

  /** Waits until as many lines of the picture match. */
  const drawnTimes = (line: RegExp, count: number) =>
    linesAre(`${count} lines match ${line}`, (all) => all.filter((each) => line.test(each)).length === count);

  /** Waits until the picture has the answer to each request. The services report answers after the phones have them. */
  const answersDrawn = () =>
    linesAre('each request has its answer in the picture', (all) => {
      const count = (line: RegExp) => all.filter((each) => line.test(each)).length;
      return count(/→ api: [A-Z]+ \//) === count(/^api → [^:]*: (\d{3}|the answer is lost)/);
    });

  const captions = () => page.evaluate<string[]>('window.captions');

  /** Begins a story. Returns a function that waits for its end and returns the captions of its steps. */
  async function begin(name: string): Promise<() => Promise<string[]>> {
    const { length } = await captions();
    await page.getByRole('navigation').getByRole('button', { name }).click();
    return async () => {
      await holds(`(() => {
        const shown = window.captions.slice(${length});
        return shown.some((text) => text.includes('playing …')) && !shown.at(-1).includes('playing …');
      })()`);
      if (await caption('another way').count()) throw new Error(`the story failed:\n${(await lines()).join('\n')}`);
      return (await captions()).slice(length).filter((text) => /^\d\//.test(text));
    };
  }

  const play = async (name: string) => (await begin(name))();

  async function fill(phone: Locator, label: string, value: string): Promise<void> {
    await phone.getByLabel(label).fill(value);
  }

  const press = (phone: Locator, name: string) => phone.getByRole('button', { name, exact: true }).click();

  async function assertAccessible(): Promise<void> {
    if (!(await page.evaluate('"axe" in window'))) await page.evaluate(await readFile(axePath, 'utf8'));
    // Colours can be compared only when no animation runs any more.
    await page.waitForFunction(() => window.document.getAnimations().length === 0);
    const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }));
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  }

  describe('stories', () => {
    afterEach(async () => {
      expect(await page.evaluate(cutTexts)).toEqual([]);
    });

    test('the story of a registration shows the transaction with its event, the delivery, the login and the stream', async () => {
      // At the reader's own pace, and with the address that the README names.
      await open({}, `http://127.0.0.1:${port}/`);
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

    test('the story of an invite ends with both members on both phones', async () => {
      await open();
      await play('Share');
      await drawn(/POST \/invites\/…\/accept/);
      await drawn(/stream closed: 4004/);
      for (const name of ['Anna', 'Ben']) {
        const members = phoneOf(name).getByRole('list', { name: 'Members' }).getByRole('listitem');
        await members.nth(1).waitFor();
        expect(await members.count()).toBe(2);
      }
    });

    test('the story of a forgotten password shows a code by email, a new password, and a login with it', async () => {
      await open();
      await play('Forgotten password');
      await drawn(/mail: code/);
      await drawn(/POST \/auth\/password-reset\/confirm/);
      await page.getByRole('region', { name: 'Mailbox' }).getByText('is your code').waitFor();
      await phoneOf('Ben')
        .getByText('● stream')
        .or(phoneOf('Ben').getByText('stream', { exact: true }))
        .waitFor();
    });

    test('in the story of a lost answer the same refresh token is sent again, and nobody is logged out', async () => {
      await open();
      const shown = await play('Lost answer');
      expect(shown.slice(0, 2)).toEqual([
        expect.stringContaining('1/3 Ten minutes later'),
        expect.stringContaining('2/3 The client sends the same refresh token again. It was spent already'),
      ]);
      await drawn(/the answer is lost/);
      const all = await lines();
      const lost = all.findIndex((line) => line.includes('the answer is lost'));
      expect(all.slice(lost).some((line) => line.includes('POST /auth/refresh'))).toBe(true);
      expect(await phoneOf('Anna').getByRole('button', { name: 'Log out' }).count()).toBe(1);
    });

    test('the story of an offline logout ends at the service as soon as there is a network', async () => {
      await open();
      await play('Offline logout');
      await drawn(/no network: kept for later/);
      await drawn(/POST \/auth\/logout/);
      await phoneOf('Ben').getByRole('button', { name: 'Log in' }).waitFor();
      // Only a logout is kept for later, so a login without a network fails.
      await press(phoneOf('Ben'), 'Airplane mode');
      await press(phoneOf('Ben'), 'Log in');
      await drawn(/: no network$/);
    });

    test('the story of a wrong clock has no failed request', async () => {
      await open();
      await play('Wrong clock');
      await drawn(/POST \/auth\/refresh/);
      await answersDrawn();
      expect((await lines()).filter((line) => /: 4\d\d/.test(line))).toEqual([]);
      await phoneOf('Anna').getByText('this phone').waitFor();
    });

    test('in the story of an unknown device the owner is notified of it, and ends its session', async () => {
      await open();
      await play('Not me!');
      await drawn(/DELETE \/auth\/sessions\/…/);
      await drawn(/close the stream: SESSION_REVOKED/);
      await drawn(/stream closed: 4001 SESSION_REVOKED/);
      await phoneOf('Ben').getByText('Logged out: ended on another device').waitFor();
      await drawn(/401, as expected: the session has ended \(ended on another device\)/);
      await answersDrawn();
      expect((await lines()).filter((line) => /\b401\b(?!, as expected)/.test(line))).toEqual([]);
    });

    test('the story of a stolen token ends the session for both at its second use', async () => {
      await open();
      await play('Stolen token');
      await drawn(/somebody else: POST \/auth\/refresh/, linesOfOthers);
      await drawn(/close the stream: SESSION_REVOKED/, linesOfOthers);
      await phoneOf('Anna').getByText('Logged out: somebody else has used this session').waitFor();
    });

    test('in the story of a passkey it is made, logs in without a password, and is dropped by the browser', async () => {
      await open();
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

    test('in the story of a provider an email address joins no accounts, a proof links them, and a new person registers', async () => {
      await open();
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

    test('in the story of a stolen password it opens nothing without the second factor, with which its owner logs in', async () => {
      await open();
      await play('Stolen password');
      await drawn(/POST \/account\/totp\/confirm/);
      await drawnTimes(/POST \/auth\/login\/second-factor/, 2);
      // The first is the demand for the code, and the second is the answer to the guess.
      await drawnTimes(/api → Ben: 403/, 2);
      await phoneOf('Ben').getByRole('button', { name: 'Log in', exact: true }).waitFor();
      await phoneOf('Anna').getByRole('button', { name: 'Log out' }).waitFor();
    });

    test('in the story of a stolen mailbox the owner is notified of the ordered removal, and stops it', async () => {
      await open();
      await play('Stolen mailbox');
      await drawn(/POST \/auth\/second-factor-removal\/confirm/);
      await drawn(/message: message/);
      await drawn(/DELETE \/account\/second-factor-removal/);
      const anna = phoneOf('Anna');
      await press(anna, 'Security');
      await anna.getByRole('button', { name: 'Switch it off' }).waitFor();
      expect(await anna.getByText('Not you?').count()).toBe(0);
    });

    test('in the story of a gateway that dies nobody is logged out, and what was missed is read again', async () => {
      await open();
      const opensStream = 'Anna → gateway: opens its stream';
      await page.evaluate(pauseAtSecondCaption);
      const end = await begin('Gateway dies');
      await page.getByRole('button', { name: 'Pause', pressed: true }).waitFor();
      // The gateway comes back during the reader's pause.
      await drawnTimes(new RegExp(opensStream), 2);
      await caption('2/3').waitFor();
      await page.getByRole('button', { name: 'Pause' }).click();
      await end();
      const all = await lines();
      const cut = all.findIndex((line) => line.includes('stream closed: 1006'));
      const joined = all.findIndex((line) => line.includes('POST /invites/…/accept'));
      const again = all.findLastIndex((line) => line.includes(opensStream));
      expect([cut > 0, joined > cut, again > joined]).toEqual([true, true, true]);
      expect(await phoneOf('Anna').getByRole('list', { name: 'Members' }).getByRole('listitem').count()).toBe(2);
    });

    test('a story waits while the reader pauses it, and leads to what is guaranteed', async () => {
      await open();
      await page.getByRole('button', { name: 'Pause' }).click();
      const end = await begin('Move in');
      await caption('1/3').waitFor();
      // A timer of the page, by which the caption would have been shown long enough.
      await page.evaluate(`new Promise((resolve) => setTimeout(resolve, ${10 * readingMs}))`);
      await caption('1/3').waitFor();
      expect(await lines()).toEqual([]);
      await page.getByRole('button', { name: 'Pause' }).click();
      await end();
      const [guide] = await Promise.all([
        context.waitForEvent('page'),
        page.getByRole('link', { name: 'What is guaranteed' }).click(),
      ]);
      await guide.getByRole('heading', { name: 'Registration' }).waitFor();
      await guide.getByText('A registration stores one user').waitFor();
    });
  });

  test('a pressed line shows what was sent and answered, by mouse and by keys', async () => {
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
  });

  test('the switches of a phone make a captive portal, and cut a stream in silence', async () => {
    await open();
    const anna = phoneOf('Anna');
    await play('Move in');
    await press(anna, 'Captive portal');
    await press(anna, 'Devices');
    await drawn(/a login page of the network answers/);
    await anna.getByText('No connection. Try again later.').waitFor();
    await press(anna, 'Captive portal');
    await press(anna, 'Home');
    // The longest pause of the client before it tries again.
    await page.clock.fastForward(30_000);
    await anna.getByText('stream', { exact: true }).waitFor();
    const opened = async () =>
      (await lines()).filter((line) => line.includes('Anna → gateway: opens its stream')).length;
    const before = await opened();
    await press(anna, 'Half-open stream');
    await press(anna, '10 minutes later');
    await press(anna, 'Devices');
    await drawn(/message: ping, lost in silence/);
    // The time for which the client waits for an answer.
    await page.clock.fastForward(10_000);
    await anna.getByRole('button', { name: 'Half-open stream', pressed: false }).waitFor();
    expect(await opened()).toBe(before + 1);
  });

  test('the phones work by hand: an office, a guest by invite, a device ended, a code taken from the mailbox', async () => {
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
  });

  test('a phone works by hand with an authenticator app, and logs in with its code after a reload', async () => {
    await open();
    const anna = phoneOf('Anna');
    const takeCode = () => anna.getByRole('button', { name: /^Take \d{6}$/ }).click();
    await press(anna, 'Register');
    await anna.getByText('The account exists. Log in.').waitFor();
    await press(anna, 'Log in');
    await press(anna, 'Security');
    await press(anna, 'Switch it on');
    await anna.getByRole('button', { name: /^Take \d{6}$/ }).waitFor();
    await assertAccessible();
    await takeCode();
    await press(anna, 'Confirm');
    await anna.getByRole('button', { name: 'Switch it off' }).waitFor();
    await press(anna, 'Log out');
    await press(anna, 'Log in');
    await anna.getByLabel('Code of the app').waitFor();
    // The login that waits is only in memory.
    await page.reload();
    await press(anna, 'Log in');
    await anna.getByRole('button', { name: /^Take \d{6}$/ }).waitFor();
    await assertAccessible();
    await takeCode();
    await press(anna, 'Confirm');
    await anna.getByRole('heading', { name: 'Household' }).waitFor();
  });

  test('errors of the service are shown in the reader’s language', async () => {
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
  });

  test('a member of staff signs in to the console of the same stack by one button', async () => {
    await open();
    const staff = await context.newPage();
    await staff.goto(`http://127.0.0.1:${consolePort}/`);
    await staff.getByRole('link', { name: 'Sign in' }).click();
    await staff.getByRole('button', { name: 'Olga (operator)' }).click();
    await staff.getByText('Olga, operator').waitFor();
  });

  test('the page is used by keyboard alone', async () => {
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
  });

  test.each([
    ['in light colours', { colorScheme: 'light' }],
    ['in dark colours', { colorScheme: 'dark' }],
    ['at a phone’s width', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
  ] as const)('the page is accessible %s, and nothing sticks out', async (_, options) => {
    // The captions stay long enough for some looks at the picture during a story.
    await open({ reducedMotion: 'no-preference', ...options }, quickly(150));
    await assertAccessible();
    // A wrapped caption and a mail make the picture smaller.
    for (const story of 'viewport' in options ? ['Forgotten password', 'Stolen token', 'Move in'] : ['Move in']) {
      const end = await begin(story);
      while (await caption('playing …').isVisible()) {
        if ((await lines()).length > 0) await holds(isNewestInView);
        await delay(50);
      }
      await end();
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
  });
});
