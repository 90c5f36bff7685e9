import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { hasChromium, launchChromium } from '../support/client/chromium.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const get = (path: string) => api.send({ method: 'GET', path });

test('GET / names the pages and documents of the api', async () => {
  const answer = await get('/');
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('application/json');
  const { docs, openapi, asyncapi } = answer.json;
  for (const path of [docs, openapi, asyncapi]) expect((await get(path)).status).toBe(200);
});

describe('/docs', () => {
  test('/docs is a page whose policy allows what it needs and nothing else', async () => {
    const page = await get('/docs');
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(page.headers['x-content-type-options']).toBe('nosniff');
  });

  test('every file that /docs names is on this host', async () => {
    const { text } = await get('/docs');
    const named = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => String(address));
    const files = named.filter((address) => !address.startsWith('data:'));
    expect(files).toHaveLength(3);
    for (const file of files) {
      expect(file).toMatch(/^\/docs\//);
      const answer = await get(file);
      expect(answer.status).toBe(200);
      expect(answer.text.length).toBeGreaterThan(100);
    }
  });
});

describe('/docs/stream', () => {
  test('/docs/stream shows every message and every close code of the AsyncAPI document', async () => {
    const page = await get('/docs/stream');
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const { channels, components } = (await get('/asyncapi.json')).json;
    const messages = Object.keys(components.messages);
    const { codes } = channels.pushStream['x-close-codes'];
    expect([messages.length, codes.length]).toEqual([12, 10]);
    for (const name of messages) expect(page.text).toContain(`<section id="${name}">`);
    for (const { code, reason } of codes) {
      expect(page.text).toContain(`<tr><td>${code}</td><td><code>${reason}</code></td>`);
    }
    expect(page.text).not.toContain('<script');
    expect(page.text).not.toContain('undefined');
  });
});

(hasChromium() ? describe : describe.skip)('/docs in a browser', () => {
  let browser: Browser;
  let page: Page;
  const messages: string[] = [];
  const requests: string[] = [];

  beforeAll(async () => {
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) messages.push(message.text());
    });
    page.on('pageerror', (error) => messages.push(error.message));
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(`${api.base}/docs`);
    await page.waitForSelector('.opblock');
  });
  afterAll(() => browser?.close());

  test('/docs in a browser shows every operation and the details of one', async () => {
    const { json } = await get('/openapi.json');
    const ids = Object.values(json.paths as Record<string, object>).flatMap((path) =>
      Object.values(path).map(({ operationId }: { operationId: string }) => operationId),
    );
    await page
      .locator('.opblock')
      .nth(ids.length - 1)
      .waitFor();
    for (const id of ids) expect(await page.locator(`[id$="-${id}"]`).count()).toBe(1);
    await page.locator('[id$="-registerAccount"] .opblock-summary-control').click();
    await page.waitForSelector('[id$="-registerAccount"] .responses-table');
    expect(await page.locator('[id$="-registerAccount"]').textContent()).toContain('ERR-EMAIL-ALREADY-EXISTS');
    expect(await page.getByText('Warning', { exact: true }).count()).toBe(0);
    const { DOCS_SCREENSHOT } = process.env;
    const picture = await page.screenshot();
    expect(picture.length).toBeGreaterThan(20_000);
    if (DOCS_SCREENSHOT) await writeFile(DOCS_SCREENSHOT, picture);
  });

  test('/docs in a browser fills in no optional header, so that a registration succeeds as it stands', async () => {
    const operation = page.locator('[id$="-registerAccount"]');
    const tryOut = operation.getByText('Try it out', { exact: true });
    // The test before has opened it, if it ran.
    if (!(await tryOut.isVisible())) await operation.locator('.opblock-summary-control').click();
    await tryOut.click();
    const inputs = await operation.locator('tr[data-param-in="header"] input').all();
    const filled = await Promise.all(inputs.map((input) => input.inputValue()));
    expect(filled).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), '', '', '']);
    const answered = page.waitForResponse(`${api.base}/api/v1/auth/register`);
    await operation.getByText('Execute', { exact: true }).click();
    expect((await answered).status()).toBe(201);
  });

  test('/docs in a browser leads to the page of the stream', async () => {
    const [link] = await page.locator('.info a[href$="/docs/stream"]').all();
    expect(await link?.textContent()).toContain('The push stream');
    const stream = await browser.newPage({ viewport: { width: 390, height: 900 } });
    stream.on('console', (message) => messages.push(message.text()));
    stream.on('request', (request) => requests.push(request.url()));
    await stream.goto(`${api.base}/docs/stream`);
    await stream.getByText('Schema', { exact: true }).first().click();
    expect(await stream.locator('#hello pre').last().isVisible()).toBe(true);
    const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    expect(await stream.evaluate(isTooWide)).toBe(false);
    const { STREAM_SCREENSHOT } = process.env;
    if (STREAM_SCREENSHOT) await stream.screenshot({ path: STREAM_SCREENSHOT, fullPage: true });
    await stream.close();
  });

  test('/docs in a browser writes no error to the console', () => {
    expect(messages).toEqual([]);
  });

  test('/docs in a browser sends requests to no other host', () => {
    const elsewhere = requests.filter((url) => !url.startsWith(`${api.base}/`) && !url.startsWith('data:'));
    expect(elsewhere).toEqual([]);
    expect(requests.length).toBeGreaterThan(3);
  });
});
