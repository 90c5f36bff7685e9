import { countsOf, labelOf } from '../../../services/api/src/audit/audit-counters.ts';
import { type AuditRow, counterTable } from '../../../services/api/src/audit/audit-row.ts';
import { type AuditEventName, auditEvents } from '../../../services/api/src/audit/events.ts';
import { code, generateSections, toTable } from './page-sections.ts';

/** Writes the table of docs/audit.md from the api's table of audit events. With --check it only compares. */

function sampledText({ reasons = {}, sampled = [] }: AuditRow): string {
  if (sampled.length === 0) return '';
  const isAll = sampled.length === Object.keys(reasons).length;
  return ` [Sampled](#sampled-events)${isAll ? '' : `: ${sampled.map(code).join(', ')}`}.`;
}

function counterText(name: AuditEventName, row: AuditRow): string {
  const texts = countsOf(row).map((counts) => {
    const { in: key, from, unless } = counts;
    const { name: counter, label } = counterTable[key];
    const text = `\`${counter}{${from === undefined ? `${label}="${labelOf(name, counts)}"` : label}}\``;
    return unless === undefined ? text : `${text}, without \`${unless}\``;
  });
  return texts.join('<br>');
}

const rows = Object.entries<AuditRow>(auditEvents).map(([name, row]) => {
  const reasons = Object.entries({ ...row.reasons, ...row.elsewhere });
  const meaning = `${row.meaning}${sampledText(row)}`.replaceAll('](./', '](');
  const listed = reasons.map(([reason, note]) => `\`${reason}\`${note && ` (${note})`}`).join(', ');
  return [`\`${name}\``, row.outcome ?? 'success', meaning, listed, counterText(name as AuditEventName, row)];
});
const events = toTable(['Event', 'Outcome', 'Meaning', 'Reasons', 'Counter'], rows);
generateSections({ page: 'docs/audit.md', generator: 'audit', sections: { events } });
