const COUNTER = /^# TYPE (\S+) counter$/gm;
const EXEMPLAR = /^([a-zA-Z_:][\w:]*(?:\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})? \S+) # \{.*$/gm;

/**
 * Turns OpenMetrics text, as prom-client writes it, into the older Prometheus text (0.0.4): there a counter's family bears
 * the suffix `_total` too, and neither exemplars nor the closing `# EOF` exist.
 *
 * Derived here because a registry whose content type is switched per scrape doubles the suffix (`…_total_total`).
 */
export function toPrometheusText(openMetrics: string): string {
  const counters = new Set(Array.from(openMetrics.matchAll(COUNTER), ([, name]) => name));
  return openMetrics
    .replace(/^# (HELP|TYPE) (\S+)/gm, (line, _kind, name: string) => (counters.has(name) ? `${line}_total` : line))
    .replace(EXEMPLAR, '$1')
    .replace(/^# EOF\n?/m, '');
}
