import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { findFreePort } from '@auth-account/local-stack';
import { startMailSink } from '@auth-account/local-stack/mail-sink';
import { buildPage } from '@auth-account/page/build';
import type { Page } from 'playwright-core';
import type { ActionName, Role } from '../../../services/console/src/contract/roles.ts';
import { openOperatorFixture } from '../../integration/authctl/operator-fixture.ts';
import { launchChromium } from '../../support/client/chromium.ts';
import { startWhole } from '../../support/closing.ts';
import { roleValues, startConsoleOn } from '../../support/console/console-fixture.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { startReceiver } from '../../support/worker/worker-receiver.ts';

/** All services, a mail server, a subscriber, a console, and Chromium with which staff use its page. */
export type StaffPages = Awaited<ReturnType<typeof openStaffPages>>;

/** Height of the first screen in pixels. */
export const screenHeight = 900;

/** Starts them or nothing. `fourEyes`: the action that needs consent. `settings` are of the services. */
export function openStaffPages(fourEyes: ActionName, settings: Readonly<Record<string, string>>) {
  return startWhole(async (endings) => {
    const sink = await startMailSink(() => undefined);
    endings.push(sink.stop);
    const billing = await startReceiver('billing');
    endings.push(billing.close);
    const url = `smtp://127.0.0.1:${sink.port}`;
    const mail = { name: 'mail', kind: 'smtp', url, starttls: false, from: 'no-reply@kitchen.example' };
    const EVENT_SUBSCRIBERS = JSON.stringify([mail, billing.subscriber]);
    const services = await openOperatorFixture({ EVENT_SUBSCRIBERS, ...settings });
    endings.push(services.close);
    const port = String(await findFreePort());
    const own = {
      ...{ CONSOLE_PORT: port, CONSOLE_PUBLIC_URL: `http://127.0.0.1:${port}`, CONSOLE_RECHECK_SECONDS: '1' },
      ...{ CONSOLE_FOUR_EYES: fourEyes, CONSOLE_LOOKUPS_PER_HOUR: '1000', CONSOLE_ACTIONS_PER_HOUR: '1000' },
    };
    const pageDir = join(import.meta.dirname, '../../../services/console/page');
    const console = await startConsoleOn(services, own, { readPage: () => buildPage({ pageDir, name: 'console' }) });
    const browser = await launchChromium();
    endings.push(() => browser.close());
    const pages = new Map<Role, Page>();

    /** Signs somebody with that role in, in a browser of their own, from a link that a colleague has sent. */
    async function signIn(role: Role, link: string, subject: string = randomUUID()): Promise<Page> {
      console.staff.people.set(subject, { name: `A ${role}`, roles: roleValues[role] });
      console.staff.present.person = subject;
      const viewport = { width: 1_280, height: screenHeight };
      const here = { baseURL: console.origin, locale: 'en', timezoneId: 'Asia/Tokyo' };
      const page = await (await browser.newContext({ ...here, viewport })).newPage();
      page.setDefaultTimeout(30_000);
      await page.goto(link);
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      return page;
    }

    async function giveReason(page: Page): Promise<void> {
      await page.getByRole('dialog').getByLabel('Reason').fill('ticket 4711');
      await page.keyboard.press('Enter');
    }

    /** Returns the page of a person with that role who is signed in and has given a reason, always the same one. */
    async function pageOf(role: Role): Promise<Page> {
      const known = pages.get(role);
      if (known !== undefined) return known;
      const page = await signIn(role, '/');
      pages.set(role, page);
      await page.getByRole('button', { name: 'Change: Reason' }).click();
      await giveReason(page);
      return page;
    }

    /** Signs the person with that role out by the page, and confirms it at the provider. */
    async function signOut(role: Role): Promise<void> {
      const page = await pageOf(role);
      pages.delete(role);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL(({ origin }) => origin === console.staff.issuer);
      const yes = '<input name="logout" value="yes">';
      await page.evaluate(`document.forms[0].insertAdjacentHTML('beforeend', '${yes}'); document.forms[0].submit()`);
      await page.getByRole('link', { name: 'Sign in' }).waitFor();
    }

    const stores = storesOf(services.collections);
    return { ...services, sink, billing, console, stores, signIn, giveReason, pageOf, signOut };
  });
}
