/** Versions that fix the known vulnerabilities of a package. */
export interface Advisory {
  readonly name: string;
  /** The first fixed version of each fixed major version. An older major version without a fix here is not accepted. */
  readonly fixed: readonly string[];
  /** The id of the newest advisory that the entry covers. */
  readonly id: string;
  /** The year and month of the advisory's publication, or of the first report. */
  readonly since: string;
}

/** A version that an advisory covers, and the reason why it is harmless here. */
export interface Waiver {
  readonly name: string;
  readonly version: string;
  readonly reason: string;
}

/** The known advisories. docs/security.md names their sources. */
export const advisories: readonly Advisory[] = [
  { name: '@babel/helpers', fixed: ['7.26.10'], id: 'CVE-2025-27789', since: '2025-03' },
  { name: '@babel/traverse', fixed: ['7.23.2'], id: 'CVE-2023-45133', since: '2023-10' },
  { name: '@grpc/grpc-js', fixed: ['1.14.4'], id: 'CVE-2026-48068', since: '2026-06' },
  { name: '@opentelemetry/core', fixed: ['2.8.0'], id: 'CVE-2026-54285', since: '2026-07' },
  { name: 'ansi-regex', fixed: ['5.0.1', '6.0.1'], id: 'CVE-2021-3807', since: '2021-09' },
  { name: 'body-parser', fixed: ['1.20.6', '2.3.0'], id: 'CVE-2026-12590', since: '2026-07' },
  { name: 'brace-expansion', fixed: ['1.1.12', '2.0.2', '3.0.1', '4.0.1'], id: 'CVE-2025-5889', since: '2025-06' },
  { name: 'cookie', fixed: ['0.7.0'], id: 'CVE-2024-47764', since: '2024-10' },
  { name: 'cross-spawn', fixed: ['6.0.6', '7.0.5'], id: 'CVE-2024-21538', since: '2024-11' },
  { name: 'express', fixed: ['4.20.0', '5.0.0'], id: 'CVE-2024-43796', since: '2024-09' },
  { name: 'fast-uri', fixed: ['3.1.8'], id: 'CVE-2026-84292', since: '2026-09' },
  { name: 'glob', fixed: ['10.5.0', '11.1.0'], id: 'CVE-2025-64756', since: '2025-11' },
  { name: 'jose', fixed: ['2.0.7', '4.15.5'], id: 'CVE-2024-28176', since: '2024-03' },
  { name: 'js-yaml', fixed: ['3.14.2', '4.1.1'], id: 'CVE-2025-64718', since: '2025-11' },
  { name: 'mongodb', fixed: ['4.17.0', '5.8.0'], id: 'CVE-2021-32050', since: '2023-08' },
  { name: 'msgpackr', fixed: ['1.10.1'], id: 'CVE-2023-52079', since: '2023-12' },
  { name: 'path-to-regexp', fixed: ['0.1.13', '8.4.0'], id: 'CVE-2026-4926', since: '2026-03' },
  { name: 'protobufjs', fixed: ['7.6.5', '8.6.6'], id: 'CVE-2026-59877', since: '2026-07' },
  { name: 'qs', fixed: ['6.16.0'], id: 'GHSA-4mjr-xmp4-gh2g', since: '2026-09' },
  { name: 'semver', fixed: ['5.7.2', '6.3.1', '7.5.2'], id: 'CVE-2022-25883', since: '2023-06' },
  { name: 'send', fixed: ['0.19.0', '1.1.0'], id: 'CVE-2024-43799', since: '2024-09' },
  { name: 'serve-static', fixed: ['1.16.0', '2.1.0'], id: 'CVE-2024-43800', since: '2024-09' },
  { name: 'undici', fixed: ['7.29.0', '8.9.0'], id: 'CVE-2026-13697', since: '2026-08' },
  { name: 'uuid', fixed: ['11.1.1', '12.0.1', '13.0.1', '14.0.0'], id: 'CVE-2026-41907', since: '2026-04' },
  { name: 'ws', fixed: ['8.21.0'], id: 'CVE-2026-48779', since: '2026-06' },
  { name: 'yaml', fixed: ['1.10.3', '2.2.2'], id: 'CVE-2023-2251', since: '2023-04' },
];

export const waivers: readonly Waiver[] = [];

/**
 * Versions published on 2025-09-08 from stolen accounts, with code that steals from wallets (GHSA-8mgj-vmr8-frr6 and
 * others).
 */
export const poisoned: readonly string[] = [
  'ansi-regex@6.2.1',
  'ansi-styles@6.2.2',
  'chalk@5.6.1',
  'color-convert@3.1.1',
  'color-name@2.0.1',
  'debug@4.4.2',
  'error-ex@1.3.3',
  'is-arrayish@0.3.3',
  'slice-ansi@7.1.1',
  'strip-ansi@7.1.1',
  'supports-color@10.2.1',
  'wrap-ansi@9.0.1',
];
