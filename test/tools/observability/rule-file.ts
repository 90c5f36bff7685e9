import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** A Prometheus rule, which records a metric or is an alert. */
export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

export const rulesFolder = new URL('../../../charts/auth-account/rules/', import.meta.url);

/** Returns the rules of the chart. */
export function readRules(): RuleFile {
  return parse(readFileSync(new URL('auth-account.rules.yaml', rulesFolder), 'utf8'));
}

/** An alert with all the fields that ours must have. */
export type Alert = Rule & Required<Pick<Rule, 'alert' | 'labels' | 'annotations'>>;

/** Returns the alerts of the chart. */
export function readAlerts(): Alert[] {
  const rules = readRules().groups.flatMap((group) => group.rules);
  return rules.filter((rule) => rule.alert !== undefined) as Alert[];
}
