import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

/** A part of an expression. */
interface Part {
  readonly name: string;
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly node: SyntaxNode;
}

/**
 * Returns every part of a PromQL expression, from the whole to the individual words. Throws if Prometheus's grammar
 * refuses it.
 */
export function partsOf(expression: string): Part[] {
  const parts: Part[] = [];
  parser.parse(expression).iterate({
    enter({ name, type, from, to, node }) {
      const text = expression.slice(from, to);
      if (type.isError) throw new SyntaxError(`no PromQL at character ${from}: ${expression}`);
      parts.push({ name, text, from, to, node });
    },
  });
  return parts;
}

export type Selector = ReturnType<typeof selectorsOf>[number];

/** Returns the selectors of an expression, with their matchers (`label op "value"`). */
export function selectorsOf(expression: string) {
  const textOf = (node: SyntaxNode | null) => (node === null ? '' : expression.slice(node.from, node.to));
  return partsOf(expression)
    .filter(({ name }) => name === 'VectorSelector')
    .map(({ node }) => {
      const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
      return {
        metric: textOf(node.getChild('Identifier')),
        matchers: matchers.map((matcher) => ({
          label: textOf(matcher.getChild('LabelName')),
          operator: textOf(matcher.getChild('MatchOp')),
          value: JSON.parse(textOf(matcher.getChild('StringLiteral'))) as string,
        })),
      };
    });
}

/** Returns the metrics that the expression uses. */
export const metricsOf = (expression: string) => selectorsOf(expression).map(({ metric }) => metric);
