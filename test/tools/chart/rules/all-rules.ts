import type { Rule } from '../manifest.ts';
import { environmentRules } from './environment-rules.ts';
import { keyRules } from './key-rules.ts';
import { podRules } from './pod-rules.ts';
import { releaseRules } from './release-rules.ts';
import { selectorRules } from './selector-rules.ts';

/** Rules for the result of every set of values, in addition to the checks by other tools. */
export const allRules: readonly Rule[] = [
  ...podRules,
  ...environmentRules,
  ...keyRules,
  ...selectorRules,
  ...releaseRules,
];
