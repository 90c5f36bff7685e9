import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Locale } from '@auth-account/contracts/events';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loadMailTemplates, type MailPurpose, mailPurposes } from './mail-templates.ts';

const values = {
  code: '01234567',
  minutes: '10',
  email: 'cook@example.com',
  time: '1 May 2026 at 10:00 UTC',
  deletes_at: '15 May 2026 at 10:00 UTC',
  undo_token: 'dG9rZW4',
  due_at: '4 May 2026 at 10:00 UTC',
  stop_token: 'c3RvcA',
  invites_revoked: '3',
  recovery_codes_left: '2',
  provider: 'Google',
};
const ownTemplates = loadMailTemplates();
const cases = Locale.enum.flatMap((locale) => mailPurposes.map((purpose) => [purpose, locale] as const));

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'auth-account-templates-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const put = (name: string, text: string) => writeFile(join(dir, name), text);

test.each(cases)(
  'the email %s in %s has a subject, a text and a page, without a placeholder or link',
  async (purpose, locale) => {
    const { subject, text, html } = (await ownTemplates)(purpose, locale, values);
    for (const part of [subject, text, html]) {
      expect(part.trim()).not.toBe('');
      expect(part).not.toMatch(/\{\{|<a |https?:/);
    }
    expect(html).toContain(`<html lang="${locale}">`);
    expect(/[а-я]/i.test(text)).toBe(locale === 'ru');
    expect(/[а-я]/i.test(subject)).toBe(locale === 'ru');
  },
);

test.each(Locale.enum)(
  'an email has its code in subject, text and page, or names its provider or stop token: %s',
  async (locale) => {
    const render = await ownTemplates;
    const { subject, text, html } = render('password_reset', locale, values);
    for (const part of [subject, text, html]) expect(part).toContain('01234567');
    for (const purpose of ['identity_link', 'provider_notice'] as const) {
      const named = render(purpose, locale, values);
      for (const part of [named.text, named.html]) expect(part).toContain('Google');
    }
    const notice = render('email_changed', locale, values);
    for (const part of [notice.text, notice.html]) expect(part).toContain('dG9rZW4');
    const removal = render('second_factor_removal_ordered', locale, values);
    for (const part of [removal.text, removal.html]) {
      for (const value of ['c3RvcA', '4 May 2026 at 10:00 UTC']) expect(part).toContain(value);
    }
  },
);

test('values are escaped in a page, and are never templates', async () => {
  const email = `"<b>'&{{code}}`;
  await put('password_reset.en.txt', 'Subject: {{code}} for {{email}}\n\n{{email}} {{code}}\n');
  await put('password_reset.en.html', '<p>{{email}} {{code}}</p>');
  const { subject, text, html } = (await loadMailTemplates(dir))('password_reset', 'en', { ...values, email });
  expect(subject).toBe(`01234567 for ${email}`);
  expect(text).toBe(`${email} 01234567\n`);
  expect(html).toContain('<p>&quot;&lt;b&gt;&#39;&amp;{{code}} 01234567</p>');
  expect(html).toContain('<title>01234567 for &quot;&lt;b&gt;&#39;&amp;{{code}}</title>');
});

test('a mail of a later release has no content here, so that it waits for a worker of that release', async () => {
  const render = await ownTemplates;
  const later = 'mail_of_a_later_release' as MailPurpose;
  expect(() => render(later, 'en', values)).toThrow('no template mail_of_a_later_release.en.txt');
  expect(() => render('new_device', 'xx' as Locale, values)).toThrow('no template new_device.xx.txt');
});

test('a directory replaces the templates that it has, and no others', async () => {
  await put('new_device.ru.html', '<p>Своё</p>');
  await put('layout.en.html', '<html lang="en"><body>Ours: {{body}}</body></html>');
  const [own, render] = [await ownTemplates, await loadMailTemplates(dir)];
  expect(render('new_device', 'ru', values).html).toContain('<p>Своё</p>');
  expect(render('new_device', 'ru', values).text).toBe(own('new_device', 'ru', values).text);
  expect(render('new_device', 'en', values).html).toContain('<body>Ours: <h1>');
});

describe('templates that are refused', () => {
  test('a template file with an unknown name is refused', async () => {
    await put('password-reset.en.txt', 'Subject: x\n\n');
    await expect(loadMailTemplates(dir)).rejects.toThrow('password-reset.en.txt is no template');
  });

  test('an unknown placeholder, a missing code and a missing subject are all reported at once', async () => {
    await put('password_reset.en.txt', 'Subject: x\n\n{{link}} {{code}}');
    await put('email_change.en.html', '<p>no code</p>');
    await put('new_device.en.txt', 'New login\n');
    const refusal = loadMailTemplates(dir);
    await expect(refusal).rejects.toThrow('password_reset.en.txt has {{link}}');
    await expect(refusal).rejects.toThrow('email_change.en.html lacks {{code}}');
    await expect(refusal).rejects.toThrow('new_device.en.txt must begin with a line "Subject: …"');
    await expect(refusal).rejects.toMatchObject({ name: 'ConfigError' });
  });

  test('a template directory that cannot be read is refused', async () => {
    await expect(loadMailTemplates(join(dir, 'none'))).rejects.toThrow('it cannot be read: ENOENT');
  });

  test('a file that is no template is ignored', async () => {
    await put('README.md', '{{anything}}');
    await expect(loadMailTemplates(dir)).resolves.toBeInstanceOf(Function);
  });
});
