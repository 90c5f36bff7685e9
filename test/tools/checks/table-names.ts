import { globSync, readFileSync } from 'node:fs';
import type { AuditRow } from '../../../services/api/src/audit/audit-row.ts';
import { auditEvents } from '../../../services/api/src/audit/events.ts';
import { limitRules } from '../../../services/api/src/limits/limits-table.ts';
import { actionRoles } from '../../../services/console/src/contract/roles.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const find = (pattern: string) => globSync(pattern).sort();

const sources = find('{services/{push-gateway,worker},libs/operations}/src/**/*.ts').map(read).join('\n');
/** Names of events that the other services and operations of operators write. */
const others = [...sources.matchAll(/\bevent(?::| =) '([a-z]+\.[a-z_]+)'/g)].map(([, name = '']) => name);
/** Names of the console's events. They are no family, because the chart's values of the console are named like them. */
const consoleSources = find('services/console/src/**/*.ts').map(read).join('\n');
const ofConsole = [...consoleSources.matchAll(/'(console\.[a-z_]+)'/g)].map(([, name = '']) => name);
const events = new Set([...Object.keys(auditEvents), ...others]);
const families = new Set(Array.from(events, (name) => name.replace(/\..*/, '')));

const reasons = Object.values<AuditRow>(auditEvents).flatMap((row) =>
  Object.keys({ ...row.reasons, ...row.elsewhere }),
);
const kinds = new Set(limitRules.map((rule) => rule.replace(/.*_/, '')));

/** Returns the code spans of a page that look like a limit's rule or an audit event, but are not. */
export function findUnknownNames(page: string): string[] {
  return [...page.matchAll(/`([a-z]+)([._])([a-z_]+)`/g)].flatMap(([, family = '', mark, rest = '']) => {
    const name = `${family}${mark}${rest}`;
    const isUnknown =
      mark === '.'
        ? families.has(family) && !events.has(name) && !Object.hasOwn(actionRoles, name)
        : kinds.has(name.replace(/.*_/, '')) && !reasons.includes(name);
    return isUnknown ? [name] : [];
  });
}

/** Returns the unknown names in all pages, and the events of other services that docs/audit.md lacks. */
export function findFaultsInPages(): string[] {
  const audit = read('docs/audit.md');
  return [
    ...find('{README.md,SECURITY.md,docs/**/*.md}').flatMap((page) =>
      findUnknownNames(read(page)).map((name) => `${page}: there is no ${name}`),
    ),
    ...[...others, ...new Set(ofConsole)]
      .filter((name) => !audit.includes(`\`${name}\``))
      .map((name) => `docs/audit.md: ${name} is missing`),
  ];
}
