import type { AuthClient } from '@auth-account/client';
import type { Account } from '@auth-account/client/account';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { newEmail, password } from '../../support/api/accounts.ts';
import { startTestApi } from '../../support/api/test-api.ts';
import { hasChromium, launchChromium } from '../../support/client/chromium.ts';
import { type ClientFixture, openClientFixture } from '../../support/client/client-fixture.ts';
import { type ClientPage, startClientPage } from '../../support/client/client-page.ts';
import { startHoldingProxy } from '../../support/stores/holding-proxy.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

/** Globals that the page's script sets. */
interface PageWindow {
  readonly auth: AuthClient & Account;
  readonly events: string[];
  /** Messages that the page has sent over its streams. */
  readonly sent: string[];
  skipMs: number;
  // biome-ignore lint/suspicious/noExplicitAny: the types of a page are not those of this program
  readonly indexedDB: any;
}
declare const window: PageWindow;

/** Returns everything in the page's storage. Runs in the page. */
function storedText(): Promise<string> {
  return new Promise((resolve) => {
    const request = window.indexedDB.open('auth-account', 1);
    request.onsuccess = () => {
      const all = request.result.transaction('values', 'readonly').objectStore('values').getAll();
      all.onsuccess = () => resolve(JSON.stringify(all.result));
    };
  });
}

/** Fills the space that the browser grants. Runs in the page. */
async function fillQuota(): Promise<void> {
  // biome-ignore lint/suspicious/noExplicitAny: the types of a page are not those of this program
  const database = await new Promise<any>((resolve) => {
    const request = window.indexedDB.open('filler', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('values', { autoIncrement: true });
    request.onsuccess = () => resolve(request.result);
  });
  for (let size = 100_000; size > 50; ) {
    const isKept = await new Promise((resolve) => {
      const transaction = database.transaction('values', 'readwrite');
      transaction.objectStore('values').add('x'.repeat(size));
      transaction.oncomplete = () => resolve(true);
      transaction.onabort = () => resolve(false);
    });
    if (!isKept) size /= 2;
  }
  database.close();
}

/** Begins a transaction, and stops in it until the debugger goes on. Runs in the page. */
const holdTransaction = `{
  const request = indexedDB.open('auth-account', 1);
  request.onsuccess = () => {
    const store = request.result.transaction('values', 'readwrite').objectStore('values');
    store.get('none').onsuccess = () => {
      debugger;
    };
  };
}`;

/** Returns of each key in the page's storage whether a script can read it. Runs in the page. */
function keyIsReadable(): Promise<boolean[]> {
  return new Promise((resolve) => {
    const request = window.indexedDB.open('auth-account-key', 1);
    request.onsuccess = () => {
      const all = request.result.transaction('values', 'readonly').objectStore('values').getAll();
      all.onsuccess = () =>
        resolve(
          all.result.map(
            ({ privateKey }: { readonly privateKey: { readonly extractable: boolean } }) => privateKey.extractable,
          ),
        );
    };
  });
}

(hasChromium() ? describe : describe.skip)('pages on other origins than the api', () => {
  const opened: { close(): Promise<void> }[] = [];
  const toClose = async <C extends { close(): Promise<void> }>(starting: Promise<C>) => {
    const started = await starting;
    opened.unshift(started);
    return started;
  };
  afterAll(async () => {
    for (const each of opened) await each.close();
  });

  test('a page of an allowed origin uses an api on another one, and no other page does', async () => {
    const pages = [await toClose(startClientPage(() => '')), await toClose(startClientPage(() => ''))] as const;
    const api = await toClose(startTestApi({ ALLOWED_ORIGINS: new URL(pages[0].url).origin }));
    const browser = await toClose(launchChromium());
    const use = async ({ url }: ClientPage) => {
      const tab = await browser.newPage();
      await tab.goto(`${url}?api=${api.base}`);
      await tab.waitForFunction(() => window.auth?.state().status === 'signed_out');
      return tab.evaluate(
        async ([email = '', password = '']) => {
          const codeOf = ({ code }: { readonly code: string }) => code;
          const registered = await window.auth
            .register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' })
            .then(() => 'registered', codeOf);
          if (registered !== 'registered') return registered;
          const refused = await window.auth.logIn({ email, password: 'wrong' }).catch(codeOf);
          await window.auth.logIn({ email, password });
          await window.auth.account.change({ display_name: 'Cook' });
          return [window.auth.state().status, refused];
        },
        [newEmail(), password],
      );
    };
    expect(await use(pages[0])).toEqual(['signed_in', 'ERR-INVALID-CREDENTIALS']);
    expect(await use(pages[1])).toBe('CLIENT_NETWORK');
  });
});

(hasChromium() ? describe : describe.skip)('two tabs of Chromium', () => {
  let fixture: ClientFixture;
  let page: ClientPage;
  let browser: Browser;
  let one: Page;
  let two: Page;
  const closing: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    fixture = await openClientFixture();
    page = await startClientPage(() => fixture.api.base);
    browser = await launchChromium();
    const context = await browser.newContext();
    [one, two] = [await context.newPage(), await context.newPage()];
    for (const tab of [one, two]) {
      await tab.goto(page.url);
      await tab.waitForFunction(() => window.auth?.state().status === 'signed_out');
    }
  });

  afterAll(async () => {
    await browser?.close();
    for (const each of closing) await each.close();
    await page?.close();
    await fixture?.close();
  });

  const statusOf = (tab: Page) => tab.evaluate(() => window.auth.state().status);
  const streamsOf = async () =>
    Number(await one.evaluate(() => window.auth.stream.isOpen())) +
    Number(await two.evaluate(() => window.auth.stream.isOpen()));

  test('a tab notices a stream that is cut in silence, by the network’s return and by a call after a pause', async () => {
    const path = await startHoldingProxy(Number(new URL(fixture.gateway.base).port));
    closing.push(path);
    const context = await browser.newContext();
    await context.addInitScript(`window.WebSocket = class extends WebSocket {
      constructor(url, protocols) {
        super('${path.url.replace('redis:', 'ws:')}' + new URL(url).pathname, protocols);
      }
      send(data) {
        window.sent.push(data);
        super.send(data);
      }
    };
    window.sent = [];`);
    const tab = await context.newPage();
    await tab.clock.install();
    const streamEvents = () => tab.evaluate(() => window.events.filter((type) => type === 'stream').length);
    await tab.goto(page.url);
    await tab.waitForFunction(() => window.auth?.state().status === 'signed_out');
    await tab.evaluate(
      async ([email = '', password = '']) => {
        await window.auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
        await window.auth.logIn({ email, password });
      },
      [newEmail(), password],
    );
    await tab.waitForFunction(() => window.auth.stream.isOpen());
    expect(await streamEvents()).toBe(1);
    /** Lets the time for an answer pass, as soon as the client has asked whether the stream still lives. */
    const passUnanswered = async (pings: number) => {
      const sent = () => tab.evaluate(() => window.sent.filter((data) => JSON.parse(data).type === 'ping').length);
      await eventually('it has asked', async () => (await sent()) === pings);
      await tab.clock.fastForward(10_000);
    };

    path.freeze();
    await context.setOffline(true);
    await context.setOffline(false);
    await passUnanswered(1);
    await eventually('it is closed and open again', async () => (await streamEvents()) === 3);
    expect(await tab.evaluate(() => window.auth.stream.isOpen())).toBe(true);

    path.freeze();
    await tab.evaluate(async () => {
      window.skipMs += 40_000;
      await window.auth.account.find();
    });
    await passUnanswered(2);
    await eventually('it is closed and open once more', async () => (await streamEvents()) === 5);
    await tab.evaluate(() => window.auth.logOut());
    await context.close();
  });

  test('two tabs share a session, one refresh, one stream and a logout', async () => {
    const email = newEmail();
    const { session_id } = await one.evaluate(
      async ([email = '', password = '']) => {
        await window.auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
        return window.auth.logIn({ email, password });
      },
      [email, password],
    );
    await two.waitForFunction(() => window.auth.state().status === 'signed_in');
    await eventually('the stream is open', async () => (await streamsOf()) === 1);

    const generation = async () => (await fixture.api.collections.sessions.findOne({ _id: session_id }))?.gen ?? 0;
    const before = await generation();
    for (const tab of [one, two]) {
      await tab.evaluate(() => {
        window.skipMs += 3_600_000;
      });
    }
    const found = [one, two, one].map((tab) => tab.evaluate(async () => (await window.auth.account.find()).email));
    expect(await Promise.all(found)).toEqual([email, email, email]);
    // A second refresh would have begun the next generation. The same token may be sent again if an answer is late.
    expect(await generation()).toBe(before + 1);
    // The stream of another test's tab may end a little later than its page.
    await eventually('there is one stream', async () => (await fixture.gateway.metric('push_streams_open')) === 1);

    await one.reload();
    await one.waitForFunction(() => window.auth?.state().status === 'signed_in');
    await eventually('one tab has the stream again', async () => (await streamsOf()) === 1);

    await two.evaluate(() => window.auth.logOut());
    await one.waitForFunction(() => window.auth.state().status === 'signed_out');
    expect(await statusOf(two)).toBe('signed_out');
    await eventually('the service knows', async () => page.requests.some((path) => path.endsWith('/logout')));
    await eventually('no token is left', async () => !(await two.evaluate(storedText)).includes('refresh_token'));
    await eventually('no stream is left', async () => (await fixture.gateway.metric('push_streams_open')) === 0);
  });

  /** Opens a page whose IndexedDB is changed by a script, logs a user in, and calls the client. */
  async function withBroken(script: string) {
    const context = await browser.newContext();
    await context.addInitScript(script);
    const tab = await context.newPage();
    await tab.goto(page.url);
    await tab.waitForFunction(() => window.auth !== undefined);
    const logIn = (email: string) =>
      tab.evaluate(
        async ([email = '', password = '']) => {
          await window.auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
          await window.auth.logIn({ email, password });
        },
        [email, password],
      );
    return { context, tab, logIn };
  }

  // answers: firebase-js-sdk 1926, https://github.com/firebase/firebase-js-sdk/issues/1926
  // The browser closed the connection without an event, and every transaction failed until the page was reloaded.
  test('a connection that the browser closed without an event is opened again', async () => {
    const { context, tab, logIn } = await withBroken(`window.closed = 0;
      const { open } = IDBFactory.prototype;
      IDBFactory.prototype.open = function (...given) {
        const request = open.apply(this, given);
        request.addEventListener('success', () => { window.database = request.result; });
        return request;
      };`);
    const close = () => tab.evaluate('window.database.close()');
    await tab.waitForFunction(() => window.auth.state().status === 'signed_out');
    await close();
    const email = newEmail();
    await logIn(email);
    await close();
    await tab.evaluate(() => {
      window.skipMs += 3_600_000;
    });
    expect(await tab.evaluate(async () => (await window.auth.account.find()).email)).toBe(email);
    await tab.reload();
    await tab.waitForFunction(() => window.auth?.state().status === 'signed_in');
    await context.close();
  });

  test('a database that never opens is given up, and opened anew', async () => {
    const { context, tab } = await withBroken(`const { open } = IDBFactory.prototype;
      window.opens = 0;
      IDBFactory.prototype.open = function (...given) {
        window.opens += 1;
        return window.opens < 3 ? {} : open.apply(this, given);
      };`);
    await tab.waitForFunction(() => window.auth.state().status === 'signed_out', undefined, { timeout: 60_000 });
    await context.close();
  });

  /** Logs a user in on a page to which the browser grants little space. `grant` changes that. */
  async function withQuota() {
    const { context, tab, logIn } = await withBroken('');
    const devtools = await context.newCDPSession(tab);
    const { origin } = new URL(page.url);
    const grant = (quotaSize?: number) =>
      devtools.send('Storage.overrideQuotaForOrigin', { origin, ...(quotaSize !== undefined && { quotaSize }) });
    await grant(500_000);
    const email = newEmail();
    await logIn(email);
    const refresh = () =>
      tab.evaluate(async () => {
        window.skipMs += 3_600_000;
        return (await window.auth.account.find()).email;
      });
    const reload = async (status: string) => {
      await tab.reload();
      await tab.waitForFunction((wanted) => window.auth?.state().status === wanted, status);
    };
    return { context, tab, email, grant, refresh, reload };
  }

  test('a page goes on while its quota is full, and keeps its session when there is space again', async () => {
    const { context, tab, email, grant, refresh, reload } = await withQuota();
    await tab.evaluate(fillQuota);
    const before = await tab.evaluate(storedText);
    for (const _time of [1, 2]) expect(await refresh()).toBe(email);
    expect(await tab.evaluate(storedText)).toBe(before);
    await reload('signed_in');
    expect(await refresh()).toBe(email);
    await grant();
    for (const _time of [1, 2]) expect(await refresh()).toBe(email);
    expect(await tab.evaluate(storedText)).not.toBe(before);
    await reload('signed_in');
    expect(await refresh()).toBe(email);
    await context.close();
  });

  test('a page whose quota is full logs out, and no token is left', async () => {
    const { context, tab, reload } = await withQuota();
    await tab.evaluate(fillQuota);
    await tab.evaluate(() => window.auth.logOut());
    await reload('signed_out');
    expect(await tab.evaluate(storedText)).not.toContain('refresh_token');
    await context.close();
  });

  test('a transaction that hangs is given up; the tab and the next one recover when it ends', async () => {
    const { context, tab, email, refresh } = await withQuota();
    const other = await context.newPage();
    await other.goto(`${page.url}page.js`);
    // All other transactions wait behind that of a tab whose script stands still.
    const devtools = await context.newCDPSession(other);
    await devtools.send('Debugger.enable');
    const stopped = new Promise((resolve) => devtools.once('Debugger.paused', resolve));
    await other.evaluate(holdTransaction);
    await stopped;
    const code = tab.evaluate(async () => {
      window.skipMs += 3_600_000;
      return window.auth.account.find().catch((error) => error.code);
    });
    expect(await code).toBe('CLIENT_STATE_UNKNOWN');
    expect(await statusOf(tab)).toBe('signed_in');
    const third = await context.newPage();
    await third.goto(page.url);
    await third.waitForFunction(() => Object(window.auth?.state()).isUnreadable);
    await devtools.send('Debugger.resume');
    await third.waitForFunction(() => window.auth.state().status === 'signed_in');
    expect(await refresh()).toBe(email);
    await context.close();
  });

  test('a page that may not use IndexedDB lives in memory after `forget`', async () => {
    const { context, tab, logIn } = await withBroken(`IDBFactory.prototype.open = () => {
      throw new DOMException('denied', 'SecurityError');
    };`);
    expect(await tab.evaluate(() => window.auth.ready().catch(({ code }) => code))).toBe('CLIENT_STATE_UNKNOWN');
    expect(await tab.evaluate(() => window.auth.state())).toEqual({ status: 'unknown', isUnreadable: true });
    await tab.evaluate(() => window.auth.forget());
    const email = newEmail();
    await logIn(email);
    await tab.evaluate(() => {
      window.skipMs += 3_600_000;
    });
    expect(await tab.evaluate(async () => (await window.auth.account.find()).email)).toBe(email);
    await context.close();
  });

  test('two tabs share a key that no script can read', async () => {
    const context = await browser.newContext();
    const tabs = [await context.newPage(), await context.newPage()] as const;
    for (const tab of tabs) {
      await tab.goto(`${page.url}?bound`);
      await tab.waitForFunction(() => window.auth?.state().status === 'signed_out');
    }
    const [first, second] = tabs;
    const email = newEmail();
    const session = await first.evaluate(
      async ([email = '', password = '']) => {
        await window.auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
        return window.auth.logIn({ email, password });
      },
      [email, password],
    );
    await second.waitForFunction(() => window.auth.state().status === 'signed_in');
    for (const tab of [second, first, second]) {
      await tab.evaluate(() => {
        window.skipMs += 3_600_000;
      });
      expect(await tab.evaluate(async () => (await window.auth.account.find()).email)).toBe(email);
    }
    const stored = await fixture.api.collections.sessions.findOne({ _id: session.session_id });
    expect(stored).toMatchObject({ cnf: { jkt: expect.any(String) }, is_revoked: false });
    expect(await second.evaluate(keyIsReadable)).toEqual([false]);
    await context.close();
  });
});
