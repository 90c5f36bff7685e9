import { CodePurpose } from '@auth-account/contracts/events';
import { createZeroedCounter, type Metrics } from '@auth-account/telemetry';
import type { Counter } from 'prom-client';
import { type AuditRow, type CounterName, type CounterRow, counterTable } from './audit-row.ts';
import { type AuditEvent, type AuditEventName, auditEvents } from './events.ts';

export type AuditCounters = Readonly<Record<CounterName, Counter<string>>>;

const rows = Object.entries(auditEvents) as [AuditEventName, AuditRow][];

/** Returns the label's value with which an event is counted; `reason` stands for the event's own reason. */
export const labelOf = (name: AuditEventName, as = name.replace(/^.*\./, '')) => as;

/** Returns all values of a counter's label, in the order of the table. */
function valuesOf(counter: string): string[] {
  const values = rows.flatMap(([name, { counts, reasons = {} }]) => {
    if (!counts || counts.in !== counter) return [];
    const value = labelOf(name, counts.as);
    return value === 'reason' ? Object.keys(reasons) : [value];
  });
  return [...new Set(values)];
}

/** Creates the counters of the audit log's events. */
export function createAuditCounters(registry: Metrics['registry']): AuditCounters {
  const create = ([key, { name, help, label, hasPurpose }]: [string, CounterRow]) => {
    const purposes = hasPurpose ? { purpose: CodePurpose.enum } : {};
    const values: Record<string, readonly string[]> = { ...purposes, [label]: valuesOf(key) };
    return [key, createZeroedCounter({ registry, name, help, values })];
  };
  return Object.fromEntries(Object.entries<CounterRow>(counterTable).map(create));
}

/** Creates the function that counts each event. */
export function countAuditEvents(counters: AuditCounters): (event: AuditEvent) => void {
  const steps = new Map(rows.map(([name, row]) => [name, stepOf(name, row, counters)]));
  return (event) => steps.get(event.event)?.(event);
}

/** Returns the function that counts an event of that row; undefined if such events are not counted. */
function stepOf(name: AuditEventName, { counts }: AuditRow, counters: AuditCounters) {
  if (!counts) return;
  const { purpose, unless } = counts;
  const { label } = counterTable[counts.in];
  const value = labelOf(name, counts.as);
  return (event: Readonly<Record<string, string | number | undefined>>) => {
    if (unless !== undefined && event[unless] !== undefined) return;
    const of = purpose ?? event.purpose;
    const labels = { [label]: (value === 'reason' && event.reason) || value, ...(of !== undefined && { purpose: of }) };
    counters[counts.in].inc(labels);
  };
}
