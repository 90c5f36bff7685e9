import {
  type ActionName,
  actionNames,
  actionRoles,
  hasRightsOf,
  roles,
} from '../../../services/console/src/contract/roles.ts';
import { generateSections, toTable } from './page-sections.ts';

/** Writes the table of roles and actions of docs/console.md from the console's own table. With --check it only compares. */

const meanings: Readonly<Record<ActionName, string>> = {
  'session.end': 'end a session',
  'sessions.end_all': 'end all sessions of an account',
  'code.resend': 'send the newest open code again',
  'limits.clear': 'clear the limits of wrong passwords, factors and codes',
  'password.void': 'make the password unusable, for the person to set a new one',
  'factor_removal.order': 'order the removal of the second factor',
  'factor_removal.stop': 'stop that removal',
  'invite.revoke': 'revoke an invite',
  'deletion.cancel': 'cancel the deletion of an account',
  'deletion.order': 'order the deletion of an account',
  'methods.remove': 'remove passkeys or identities',
  'account.disable': 'disable an account',
  'account.enable': 'enable it again',
  'account.export': 'export everything that is held of a person',
  'event.replay': 'send an event again',
  'dead_letter.discard': 'discard a dead letter',
  'subscriber.suspend': 'suspend a subscriber',
  'subscriber.resume': 'resume it',
  'subscriber.retry': 'retry its dead letters',
};

const rows = actionNames.map((name) => [
  name,
  meanings[name],
  ...roles.map((role) => (hasRightsOf(role, actionRoles[name]) ? 'yes' : '')),
]);
generateSections({
  page: 'docs/console.md',
  generator: 'console',
  sections: { actions: toTable(['Action', 'What it does', ...roles.map((role) => `\`${role}\``)], rows) },
});
