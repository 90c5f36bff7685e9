import { describeConfig } from '@auth-account/config';
import { apiConfig } from '../../../services/api/src/config.ts';
import { limitedRoutes } from '../../../services/api/src/limits/limited-routes.ts';
import {
  describeLimit,
  requestLimits,
  type SpecialLimitRow,
  specialLimits,
} from '../../../services/api/src/limits/limits-table.ts';
import { type MailBound, type MailSettings, mailBounds } from '../../support/api/mail-bounds.ts';
import { generateSections, toTable } from './page-sections.ts';

/** Writes the specification's tables of limits from the table in the api. With --check it only compares. */

const defaults = new Map(describeConfig(apiConfig).map((row) => [row.name, Number(row.default)]));
const format = (number = Number.NaN) => number.toLocaleString('en');

/** Returns the operations whose requests the limit counts. */
const countedBy = (limit: string) =>
  Object.entries(limitedRoutes)
    .filter(([, limits]) => limits.some((each) => each.replace('?', '') === limit))
    .map(([operation]) => `\`${operation}\``);

const requests = Object.entries(requestLimits).map(([name, row]) => [
  `\`${row.rule}\``,
  describeLimit(row),
  countedBy(name).join(', '),
  format(row.default),
  `\`${row.setting}\``,
]);

function specialTable(page: SpecialLimitRow['page'], head: string): string {
  const rows = Object.entries<SpecialLimitRow>(specialLimits).filter(([, row]) => row.page === page);
  const cells = rows.map(([rule, { counts, limit }]) => [
    `\`${rule}\``,
    counts,
    limit.replace(/\{(\w+)\}/g, (_, name: string) => format(defaults.get(name))),
  ]);
  return toTable(['Rule', head, 'Default'], cells);
}

const settings = Object.fromEntries(defaults) as unknown as MailSettings;

/** Returns the table of mails, a row for those that share a bound. */
function mailTable(): string {
  const purposes = Map.groupBy(Object.entries<MailBound>(mailBounds), ([, bound]) => bound);
  const rows = [...purposes].map(([bound, named]) => [
    named.map(([purpose]) => `\`${purpose}\``).join(', '),
    format(bound.max(settings)),
    ('rule' in bound.by ? `\`${bound.by.rule}\`` : bound.by.state) + (bound.more ?? ''),
  ]);
  return toTable(['Mail', 'Most in a day', 'Bounded by'], rows);
}

const tables = {
  'requests.md': toTable(['Rule', 'Counts', 'Operations', 'Default', 'Setting'], requests),
  'login-and-tokens.md': specialTable('login-and-tokens.md', 'Counts wrong passwords for one account'),
  'account.md': specialTable('account.md', 'Counts'),
  'sign-in.md': specialTable('sign-in.md', 'Counts'),
};
for (const [page, limits] of Object.entries(tables)) {
  const mails = page === 'account.md' ? { mails: mailTable() } : {};
  generateSections({ page: `docs/specification/${page}`, generator: 'limits', sections: { limits, ...mails } });
}
