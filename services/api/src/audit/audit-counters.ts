import { CodePurpose } from '@auth-account/contracts/events';
import { createZeroedCounter, type Metrics } from '@auth-account/telemetry';
import type { Counter } from 'prom-client';
import {
  type AuditRow,
  type CounterName,
  type CounterRow,
  type CountRow,
  counterTable,
  type SecondLabel,
} from './audit-row.ts';
import { type AuditEvent, type AuditEventName, auditEvents } from './events.ts';

export type AuditCounters = Readonly<Record<CounterName, Counter<string>>>;

const rows = Object.entries(auditEvents) as [AuditEventName, AuditRow][];

/** Returns how events of that row are counted. */
export function countsOf({ counts }: AuditRow): readonly CountRow[] {
  return counts === undefined ? [] : [counts].flat();
}

/** Returns the label's value with which an event is counted, unless it is that of a field. */
export const labelOf = (name: AuditEventName, { as = name.replace(/^.*\./, '') }: CountRow) => as;

/** Returns all values of a counter's label, in the order of the table. */
function valuesOf(counter: string): string[] {
  const values = rows.flatMap(([name, row]) =>
    countsOf(row).flatMap((counts) => {
      if (counts.in !== counter) return [];
      return counts.from === undefined ? [labelOf(name, counts)] : Object.keys(row.reasons ?? {});
    }),
  );
  return [...new Set(values)];
}

const secondValues: Readonly<Record<Exclude<SecondLabel, 'provider'>, readonly string[]>> = {
  purpose: CodePurpose.enum,
  method: Object.keys(auditEvents['second_factor.failed'].reasons),
};

/** Creates the counters of the audit log's events, for the providers of those names. */
export function createAuditCounters(registry: Metrics['registry'], provider: readonly string[]): AuditCounters {
  const second = { ...secondValues, provider };
  const create = ([key, { name, help, label, by, values = valuesOf(key) }]: [string, CounterRow]) => {
    const all: Record<string, readonly string[]> = { ...(by && { [by]: second[by] }), [label]: values };
    return [key, createZeroedCounter({ registry, name, help, values: all })];
  };
  return Object.fromEntries(Object.entries<CounterRow>(counterTable).map(create));
}

/** Counts each event. */
export function countAuditEvents(counters: AuditCounters): (event: AuditEvent) => void {
  const steps = new Map(
    rows.map(([name, row]) => [name, countsOf(row).map((counts) => stepOf(name, counts, counters))]),
  );
  return (event) => {
    for (const step of steps.get(event.event) ?? []) step(event);
  };
}

type Fields = Readonly<Record<string, string | number | undefined>>;

/** Returns the function that counts an event. */
function stepOf(name: AuditEventName, counts: CountRow, counters: AuditCounters) {
  const { purpose, unless, from } = counts;
  const { label, by }: CounterRow = counterTable[counts.in];
  const value = labelOf(name, counts);
  return (event: Fields) => {
    if (unless !== undefined && event[unless] !== undefined) return;
    const labels = {
      [label]: from === undefined ? value : String(event[from]),
      ...(by && { [by]: String(purpose ?? event[by] ?? event.reason) }),
    };
    counters[counts.in].inc(labels);
  };
}
