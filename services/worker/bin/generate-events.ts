import { type AccountTopic, accountEvents } from '@auth-account/contracts/events';
import { generateSections, toTable } from '../../../test/tools/generate/page-sections.ts';
import { fieldsOf, mailPurposes } from '../src/mail/mail-templates.ts';

/** Writes docs/events.md's tables of account events and of mails. With --check it only compares. */

/** The occasions of the events, as Markdown. */
const happened: Readonly<Record<AccountTopic, string>> = {
  'service.auth.events.code_requested':
    'A code is to be mailed. `provider` is there for `identity_link`. After `expires_at` the event is dropped and counted (`auth_events_expired_total`), and is no dead letter',
  'service.auth.events.notice':
    'The holder is to be informed of a change, or of a login on a [new device](specification/login-and-tokens.md#new-devices). `session_id` comes with `new_device` (except after a restore), `email_change_id` with `email_changed`, `deletes_at` with `deletion_scheduled`, `removal_id` and `due_at` with `second_factor_removal_ordered`, `provider` with `provider_notice`, `invites_revoked` with `password_changed` by a recovery, `recovery_codes_left` with `recovery_codes`',
  'service.auth.events.email_verified': 'The user has confirmed the email address',
  'service.auth.events.password_changed':
    'The password was replaced, or made unusable. `deletion` and `login`: by a code from a mailbox that was never verified',
  'service.auth.events.email_changed': 'The email address was replaced, or the old one is back',
  'service.auth.events.second_factor_changed': 'The second factor, or its recovery codes, changed',
  'service.auth.events.passkey_added': 'The account has a new passkey',
  'service.auth.events.passkey_removed': 'The account lost a passkey',
  'service.auth.events.identity_linked': 'The account has a new identity at a provider',
  'service.auth.events.identity_unlinked': 'The account lost an identity',
  'service.auth.events.deletion_scheduled': 'The account will be erased at `deletes_at`',
  'service.auth.events.deletion_cancelled': 'The account will not be erased',
  'service.auth.events.deleted':
    'The account was erased: forget this user. The event is sent until the subscriber acknowledges it, however long that takes',
};

interface DataSchema {
  readonly properties: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
  readonly required?: readonly string[];
}

/** Returns the members of an event's data that not every event has, with the values of short lists. */
function membersOf(topic: AccountTopic): string {
  const { properties, required = [] } = accountEvents[topic].properties.data as unknown as DataSchema;
  const names = Object.keys(properties).filter((name) => !['user_id', 'secret'].includes(name));
  const texts = names.map((name) => {
    const values = name === 'purpose' ? [] : (properties[name]?.enum ?? []);
    const listed = values.length > 0 ? ` (${values.map((value) => `\`${value}\``).join(', ')})` : '';
    return `\`${name}\`${required.includes(name) ? '' : '?'}${listed}`;
  });
  return texts.join(', ');
}

const topics = Object.keys(accountEvents) as AccountTopic[];
const events = topics.map((topic) => [
  `\`${topic.replace('service.auth.events.', '')}\``,
  membersOf(topic),
  happened[topic],
]);

const byFields = Map.groupBy(mailPurposes, (purpose) => fieldsOf[purpose].map((field) => `\`${field}\``).join(', '));
const mails = Array.from(byFields, ([fields, purposes]) => [
  purposes.map((purpose) => `\`${purpose}\``).join(', '),
  fields,
]);

generateSections({
  page: 'docs/events.md',
  generator: 'events',
  sections: {
    'account-events': toTable(['`type`: `service.auth.events.` …', '`data`', 'It happened that'], events),
    templates: toTable(['Purpose', 'Placeholders'], mails),
  },
});
