import { partsOf } from './promql.ts';
import type { Rule, RuleFile } from './rule-file.ts';

/** Factor of the acceleration. */
const factor = 60;
/** The shortest window in seconds, because `rate()` needs a few scrapes, which are one second apart. */
const leastRangeSeconds = 5;

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

function toSeconds(duration: string): number {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? [];
  const seconds = unitSeconds[unit];
  if (count === undefined || seconds === undefined) throw new Error(`no duration that is used here: ${duration}`);
  return Number(count) * seconds;
}

function faster(duration: string, least: number): string {
  return `${Math.max(least, Math.round(toSeconds(duration) / factor))}s`;
}

interface Replacement {
  readonly from: number;
  readonly to: number;
  readonly by: string;
}

/** Matches metrics of an age, which is that of an oldest event, or of a time stamp. */
const isAge = /_age_seconds|_timestamp_seconds/;

function replacementsOf(expression: string): Replacement[] {
  return partsOf(expression).flatMap(({ name, text, from, to, node }) => {
    if (name === 'NumberDurationLiteralInDurationContext') return { from, to, by: faster(text, leastRangeSeconds) };
    const comparison = node.parent;
    if (name !== 'NumberDurationLiteral' || comparison?.name !== 'BinaryExpr') return [];
    const left = expression.slice(comparison.from, from);
    return isAge.test(left) ? { from, to, by: String(Number(text) / factor) } : [];
  });
}

function speedUpExpression(expression: string): string {
  return replacementsOf(expression)
    .toSorted((one, other) => other.from - one.from)
    .reduce((text, { from, to, by }) => text.slice(0, from) + by + text.slice(to), expression);
}

function speedUpRule(rule: Rule): Rule {
  const expr = speedUpExpression(rule.expr);
  return rule.for === undefined ? { ...rule, expr } : { ...rule, expr, for: faster(rule.for, 1) };
}

/**
 * Returns the same rules sixty times as fast, for a Prometheus that scrapes every second instead of every minute. Every
 * window, offset and `for` is divided by sixty (windows are at least 5 s), and so are the ages that alerts wait for.
 * Shares, counts and latencies stay, and so do names, so that `…ratio_rate5m` is the rate over 5 s.
 */
export function speedUp({ groups }: RuleFile): RuleFile {
  return { groups: groups.map((group) => ({ ...group, rules: group.rules.map(speedUpRule) })) };
}
