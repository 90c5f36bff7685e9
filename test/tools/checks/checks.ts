/**
 * The commands of the checks, by name. Their programs are in node_modules/.bin, except Node. A variable of the
 * environment may stand before the program.
 */
export const checks: Readonly<Record<string, readonly [string, ...string[]]>> = {
  // The rule's first commit. Earlier subjects may be longer.
  commits: ['node', 'test/tools/checks/check-commits.ts', '4d1a35ee6c6a8205f3198699aeaf1d19052f103b'],
  // Each further checker of tsc checks most types again. GOGC spares it most of its garbage collections.
  types: ['GOGC=400', 'tsc', '--checkers', '1'],
  'page-types': ['GOGC=400', 'tsc', '--checkers', '1', '--project', 'libs/page'],
  lint: ['biome', 'check', '--error-on-warnings'],
  dead: ['knip', '--no-config-hints'],
  boundaries: ['depcruise', '--config', '.dependency-cruiser.cjs', 'libs', 'services'],
  generated: ['node', 'test/tools/generate/generate.ts', '--check'],
  sources: ['TIER=sources', 'jest', '--config', 'test/jest.config.js', '--silent'],
  lockfile: ['node', 'test/tools/checks/check-packages.ts', 'lockfile'],
  'supply-chain': ['node', 'test/tools/checks/check-packages.ts', 'supply-chain'],
  secrets: ['node', 'test/tools/checks/check-secrets.ts'],
  house: ['node', 'test/tools/checks/check-house.ts'],
  github: ['node', 'test/tools/checks/check-github.ts'],
  alerts: ['node', 'test/tools/observability/check-alerts.ts'],
  chart: ['node', 'test/tools/chart/check-chart.ts'],
};

/** Checks that run only by name. */
export const onRequest: typeof checks = { changed: ['node', 'test/tools/checks/check-changed.ts'] };
