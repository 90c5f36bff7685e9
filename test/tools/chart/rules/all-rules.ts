import { environmentRules } from './environment-rules.ts';
import { keyRules } from './key-rules.ts';
import { podRules } from './pod-rules.ts';
import { releaseRules } from './release-rules.ts';
import type { Rule } from './rule.ts';
import { selectorRules } from './selector-rules.ts';

/** What every set of values must render, beside what the tools of others look at. */
export const allRules: readonly Rule[] = [
  ...podRules,
  ...environmentRules,
  ...keyRules,
  ...selectorRules,
  ...releaseRules,
];
