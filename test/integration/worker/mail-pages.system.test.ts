import { Locale } from '@auth-account/contracts/events';
import { createEmailChangeTokens } from '@auth-account/tokens';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { loadMailTemplates, mailPurposes } from '../../../services/worker/src/mail/mail-templates.ts';
import { hasChromium, launchChromium } from '../../support/client/chromium.ts';

const key = { kid: 'a-name-of-a-key-in-2026', kty: 'oct', k: Buffer.alloc(32, 1).toString('base64url') };

/** The longest possible values. The email address has 254 characters, and no place where a line may break. */
const values = {
  code: '00000000',
  minutes: '10',
  email: `${'w'.repeat(64)}@${'m'.repeat(63)}.${'m'.repeat(63)}.${'m'.repeat(57)}.com`,
  time: '30 сентября 2026 г. в 10:00 UTC',
  deletes_at: 'September 30, 2026 at 10:00 AM UTC',
  due_at: 'September 30, 2026 at 10:00 AM UTC',
  stop_token: createEmailChangeTokens({ keys: [key] }).issue('0199c8f2-e3aa-7cc4-b1f0-9d2f5c3b7a10'),
  undo_token: createEmailChangeTokens({ keys: [key] }).issue('0199c8f2-e3aa-7cc4-b1f0-9d2f5c3b7a10'),
};

// Code that runs in the page is text, because these tests are compiled without types of the DOM.
const scrollWidth = 'document.documentElement.scrollWidth';
/** The color of the page's background, then the color of each paragraph. */
const colors = `(() => {
  const canvas = document.body.appendChild(document.createElement('div'));
  canvas.style.color = 'Canvas';
  const spelled = [canvas, ...document.querySelectorAll('main > *')].map((element) => getComputedStyle(element).color);
  canvas.remove();
  return spelled;
})()`;

(hasChromium() ? describe : describe.skip)('emails on a phone', () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 360, height: 640 } });
  });
  afterAll(() => browser?.close());

  test.each(Locale.enum)(
    'in %s each email fits a phone’s width, and each of its texts can be read by day and by night',
    async (locale) => {
      const render = await loadMailTemplates();
      for (const purpose of mailPurposes) {
        await page.setContent(render(purpose, locale, values).html);
        expect([purpose, await page.evaluate(scrollWidth)]).toEqual([purpose, 360]);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const [background, ...texts] = await page.evaluate<string[]>(colors);
          // The least that WCAG 2.2 asks for.
          for (const text of texts) expect(contrast(text, background ?? '')).toBeGreaterThanOrEqual(4.5);
          expect(texts.length).toBeGreaterThan(2);
        }
      }
    },
  );
});

function contrast(one: string, other: string): number {
  const [darker = 0, brighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (brighter + 0.05) / (darker + 0.05);
}

/** Relative luminance of `rgb(…)`, as WCAG defines it. */
function luminance(color: string): number {
  const channels = (color.match(/\d+/g) ?? []).map((channel) => Number(channel) / 255);
  const [red = 0, green = 0, blue = 0] = channels.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
