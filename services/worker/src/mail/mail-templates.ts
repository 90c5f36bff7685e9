import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '@auth-account/config';
import { CodePurpose, Locale, NotificationPurpose } from '@auth-account/contracts/events';

export type MailPurpose = CodePurpose | NotificationPurpose;

/** Placeholders of the templates, and their values. */
export type MailValues = Readonly<Record<string, string>>;

/** Content of a mail. */
export interface MailContent {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/**
 * Returns the content of a mail, with the values in the template's placeholders. Throws for a purpose or language of a
 * later release, so that the mail is tried again until a worker of that release has it.
 */
export type RenderMail = (purpose: MailPurpose, locale: Locale, values: MailValues) => MailContent;

const ownDir = fileURLToPath(new URL('../../templates/', import.meta.url));

const codeFields = ['code', 'minutes', 'email'];
const notificationFields = ['email', 'time'];

/** Purpose → placeholders that its templates may have. */
export const fieldsOf: Readonly<Record<MailPurpose, readonly string[]>> = {
  ...(Object.fromEntries(CodePurpose.enum.map((purpose) => [purpose, codeFields])) as Record<CodePurpose, string[]>),
  identity_link: [...codeFields, 'provider'],
  new_device: notificationFields,
  password_changed: [...notificationFields, 'invites_revoked'],
  password_guessed: notificationFields,
  email_changed: [...notificationFields, 'undo_token'],
  deletion_scheduled: [...notificationFields, 'deletes_at'],
  deletion_cancelled: notificationFields,
  address_in_use: notificationFields,
  second_factor_on: notificationFields,
  second_factor_off: notificationFields,
  second_factor_guessed: notificationFields,
  second_factor_removal_ordered: [...notificationFields, 'due_at', 'stop_token'],
  second_factor_removal_stopped: notificationFields,
  recovery_codes: [...notificationFields, 'recovery_codes_left'],
  passkey_added: notificationFields,
  passkey_removed: notificationFields,
  identity_linked: notificationFields,
  identity_unlinked: notificationFields,
  provider_notice: [...notificationFields, 'provider'],
};

export const mailPurposes: readonly MailPurpose[] = [...CodePurpose.enum, ...NotificationPurpose.enum];

/** File name → placeholders that it may have. */
const files: ReadonlyMap<string, readonly string[]> = new Map(
  Locale.enum.flatMap((locale) => [
    [`layout.${locale}.html`, ['subject', 'body']] as const,
    ...mailPurposes.flatMap((purpose) =>
      ['txt', 'html'].map((format) => [`${purpose}.${locale}.${format}`, fieldsOf[purpose]] as const),
    ),
  ]),
);

const placeholder = /\{\{(\w+)\}\}/g;
const subjectLine = /^Subject: (.+)\r?\n\r?\n/;

/**
 * Loads the templates. A file in `replacementsDir`, if there is one, replaces our own file of the same name. Throws a
 * `ConfigError` for a file that is not named like one of ours, has an unknown placeholder, lacks a required code, or
 * has no subject in its first line.
 */
export async function loadMailTemplates(replacementsDir?: string): Promise<RenderMail> {
  const replaced = replacementsDir === undefined ? [] : await findReplacements(replacementsDir);
  const read = async (name: string) => {
    const dir = replaced.includes(name) ? (replacementsDir ?? ownDir) : ownDir;
    return [name, await readFile(join(dir, name), 'utf8')] as const;
  };
  const templates = new Map(await Promise.all([...files.keys()].map(read)));
  refuse([...templates].flatMap(([name, text]) => problemsOf(name, text)));
  const templateOf = (name: string) => {
    const template = templates.get(name);
    if (template === undefined) throw new Error(`there is no template ${name}`);
    return template;
  };
  return (purpose, locale, values) => {
    const plain = templateOf(`${purpose}.${locale}.txt`);
    const [head = '', subject = ''] = subjectLine.exec(plain) ?? [];
    const asText = (template: string) => fill(template, values, (value) => value);
    const body = fill(templateOf(`${purpose}.${locale}.html`), values, escapeHtml);
    const title = escapeHtml(asText(subject));
    return {
      subject: asText(subject),
      text: asText(plain.slice(head.length)),
      html: fill(templateOf(`layout.${locale}.html`), { subject: title, body }, (value) => value),
    };
  };
}

async function findReplacements(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch((error: Error) => refuse([`it cannot be read: ${error.message}`]));
  const templates = names.filter((name) => /\.(txt|html)$/.test(name));
  refuse(templates.filter((name) => !files.has(name)).map((name) => `${name} is no template's name`));
  return templates;
}

function problemsOf(name: string, text: string): string[] {
  const known = files.get(name) ?? [];
  const used = [...text.matchAll(placeholder)].map(([, field = '']) => field);
  const unknown = used.filter((field) => !known.includes(field)).map((field) => `${name} has {{${field}}}`);
  const isCode = (CodePurpose.enum as readonly string[]).some((purpose) => name.startsWith(`${purpose}.`));
  const lacksCode = isCode && !used.includes('code') ? [`${name} lacks {{code}}`] : [];
  const hasSubject = !name.endsWith('.txt') || subjectLine.test(text);
  return [
    ...unknown,
    ...lacksCode,
    ...(hasSubject ? [] : [`${name} must begin with a line "Subject: …" and an empty one`]),
  ];
}

function refuse(problems: readonly string[]): string[] {
  if (problems.length === 0) return [];
  throw new ConfigError(
    problems.map((message) => ({
      name: 'MAIL_TEMPLATES_DIR',
      expected: 'a directory of templates',
      came: message,
      where: 'environment',
    })),
  );
}

function fill(template: string, values: MailValues, spell: (value: string) => string): string {
  return template.replaceAll(placeholder, (whole, field: string) => {
    const value = values[field];
    return value === undefined ? whole : spell(value);
  });
}

/** Escapes text for HTML, for element content and for quoted attributes. */
function escapeHtml(text: string): string {
  const spelled: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replaceAll(/[&<>"']/g, (character) => spelled[character] ?? character);
}
