/**
 * The programs of the generators, by name. Each reads `--check` from the command line, and does its work when it is
 * loaded.
 */
export const generators: Readonly<Record<string, string>> = {
  config: 'test/tools/generate/configuration-docs.ts',
  limits: 'test/tools/generate/limits-docs.ts',
  audit: 'test/tools/generate/audit-docs.ts',
  privacy: 'test/tools/generate/privacy-docs.ts',
  events: 'services/worker/bin/generate-events.ts',
  answers: 'test/tools/generate/answers-docs.ts',
  guarantees: 'test/tools/generate/guarantees-docs.ts',
  errors: 'libs/errors/bin/generate.ts',
  documents: 'services/api/bin/generate-documents.ts',
  client: 'libs/client/bin/generate.ts',
  endpoints: 'services/api/bin/generate-operations.ts',
  streams: 'test/tools/generate/stream-docs.ts',
  authctl: 'services/authctl/bin/generate-docs.ts',
  console: 'test/tools/generate/console-docs.ts',
  metrics: 'test/tools/generate/metrics-docs.ts',
  dashboards: 'test/tools/generate/dashboards.ts',
  chart: 'test/tools/generate/chart-docs.ts',
  programs: 'test/tools/generate/programs-docs.ts',
  performance: 'test/tools/generate/performance-docs.ts',
  mutation: 'test/tools/mutation/write-page.ts',
};

/** Generators that run only by name, because they need MongoDB and Redis. */
export const onRequest: typeof generators = { queries: 'test/tools/queries/record-queries.ts' };
