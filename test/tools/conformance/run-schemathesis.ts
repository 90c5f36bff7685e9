import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { routes } from '@auth-account/contracts';
import { logIn, newSession, password, registerAccount } from '../../support/api/accounts.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { completeDenyListOf } from '../../support/gateway/gateway-fixture.ts';
import { internalServiceCredential } from '../../support/verifier/internal-services.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));
const requirements = join(here, 'requirements.txt');

/**
 * The operations, which are split between processes, because schemathesis' threads share one processor. The document's
 * links lead from one operation to another, so the stateful phase has all operations.
 */
const ids: string[] = Object.values(routes).map(({ operationId }) => operationId);
/** The operation that ends its caller's session, so it has a separate caller. */
const leaving = routes.logOutAll.operationId;
const staying = ids.filter((id) => id !== leaving);
const shares = [
  { operations: [leaving], phases: 'examples,coverage,fuzzing' },
  { operations: staying.filter((_, i) => i % 2 === 0), phases: 'examples,coverage,fuzzing' },
  { operations: staying.filter((_, i) => i % 2 === 1), phases: 'examples,coverage,fuzzing' },
  { operations: ids, phases: 'stateful' },
] as const;

export interface SchemathesisOptions {
  /** Number of cases per operation that the fuzzing phase generates. Those of other phases come in addition. */
  readonly cases: number;
  readonly seed: number;
  /**
   * Seconds after which the run is stopped and has failed. With a limit of its own, schemathesis would always use up
   * the time.
   */
  readonly maxSeconds: number;
  /** Called with the progress every half minute. */
  readonly log: (line: string) => void;
}

export interface SchemathesisResult {
  readonly cases: number;
  readonly failures: number;
  /** Number of operations that could not be tried, plus that of runs that ended badly. */
  readonly errors: number;
  /** Number of requests that the api has answered. */
  readonly requests: number;
  /** True if the time was over before everything was tried, so the other figures are incomplete. */
  readonly isBrokenOff: boolean;
}

interface Report {
  readonly test_cases: { readonly generated: number; readonly unique_failures: number; readonly errored: number };
  readonly operations: { readonly selected: number; readonly tested: number; readonly errored: number };
  readonly exit_code: number;
}

/**
 * Runs schemathesis with every check against a separate api, which validates its answers. The api's hashes are cheap,
 * because they are not tested here.
 */
export async function runSchemathesis(options: SchemathesisOptions): Promise<SchemathesisResult> {
  const binary = await install();
  await mkdir(join(root, 'reports'), { recursive: true });
  const start = performance.now();
  const api = await startTestApi({
    ARGON2_MEMORY_KIB: '64',
    ARGON2_PASSES: '1',
    HASH_QUEUE_TIMEOUT_MS: '60000',
    ACCESS_TOKEN_TTL_SECONDS: '86400',
  });
  await completeDenyListOf(api.keyPrefix);
  const answered = () => api.metric('http_request_duration_seconds', { le: '+Inf' });
  const progress = setInterval(async () => {
    const seconds = Math.round((performance.now() - start) / 1_000);
    options.log(
      `schemathesis: ${await answered()} requests answered after ${seconds} of at most ${options.maxSeconds} s`,
    );
  }, 30_000);
  try {
    const { seeds, accessTokens } = await makeSeeds(api);
    const env = {
      ...process.env,
      PYTHONPATH: here,
      PYTHONDONTWRITEBYTECODE: '1',
      HYPOTHESIS_STORAGE_DIRECTORY: join(root, '.cache', 'hypothesis'),
      SCHEMATHESIS_HOOKS: 'hooks',
      CONFORMANCE_SEEDS: JSON.stringify(seeds),
      CONFORMANCE_SIBLING: internalServiceCredential(),
    };
    const reports = await Promise.all(
      shares.map((share, i): Promise<Report | undefined> => {
        const isLeaving = share.operations.length === 1 && share.operations[0] === leaving;
        const token = isLeaving ? accessTokens.leaving : accessTokens.staying;
        const ownEnv = { ...env, CONFORMANCE_ACCESS_TOKEN: token };
        return runShare(binary, { ...options, ...share, base: api.base, env: ownEnv, number: i + 1 });
      }),
    );
    const sum = (count: (report: Report, isStateful: boolean) => number) =>
      reports.reduce((all, report, i) => all + (report ? count(report, shares[i]?.phases === 'stateful') : 0), 0);
    return {
      cases: sum(({ test_cases }) => test_cases.generated),
      failures: sum(({ test_cases }) => test_cases.unique_failures),
      errors: sum(errorsOf),
      requests: await answered(),
      isBrokenOff: performance.now() - start > options.maxSeconds * 1_000,
    };
  } finally {
    clearInterval(progress);
    await api.close();
  }
}

interface Share extends SchemathesisOptions {
  readonly operations: readonly string[];
  readonly phases: string;
  readonly base: string;
  readonly env: NodeJS.ProcessEnv;
  readonly number: number;
}

/** Runs schemathesis for a share of the operations. Returns undefined if it ended too abruptly to write a report. */
async function runShare(binary: string, share: Share): Promise<Report | undefined> {
  const report = join(root, 'reports', `schemathesis-${share.number}.json`);
  // An earlier run's report must not be mistaken for this run's.
  await rm(report, { force: true });
  const operations = share.operations.flatMap((id) => ['--include-operation-id', id]);
  const limits = ['--phases', share.phases, '--max-examples', String(share.cases)];
  const output = ['--report-json-path', report, '--no-color', '--generation-database', 'none'];
  const args = ['--config-file', join(here, 'schemathesis.toml'), 'run', `${share.base}/openapi.json`];
  const all = [...args, ...operations, ...limits, '--seed', String(share.seed), ...output];
  const code = await run(binary, all, share.env, share.maxSeconds * 1_000);
  if (existsSync(report)) return JSON.parse(await readFile(report, 'utf8')) as Report;
  if (code === brokenOff) return undefined;
  throw new Error(`schemathesis ended with ${code} and wrote no report`);
}

/** Returns the number of errors in a report. The stateful phase may skip operations, because not all have links. */
function errorsOf({ test_cases, operations, exit_code }: Report, isStateful: boolean): number {
  const untried = isStateful ? operations.errored : operations.selected - operations.tested;
  return Math.max(test_cases.errored, untried, exit_code === 0 ? 0 : 1);
}

/** Creates independent accounts to log in to, sessions to refresh, and sessions of one caller to log out. */
async function makeSeeds(api: TestApi) {
  const each = async <T>(make: () => Promise<T>): Promise<T[]> => {
    const made: T[] = [];
    while (made.length < 20) made.push(await make());
    return made;
  };
  const login = await each(async () => ({ email: (await registerAccount(api)).email, password }));
  const refresh = await each(async () => ({ refresh_token: (await newSession(api)).refresh_token }));
  const caller = await newSession(api);
  const logout = await each(async () => ({ refresh_token: (await logIn(api, caller.email)).refresh_token }));
  const leavingCaller = await newSession(api);
  const accessTokens = { staying: caller.access_token, leaving: leavingCaller.access_token };
  return { seeds: { login, refresh, logout }, accessTokens };
}

/** Installs the versions that requirements.txt pins, once for each content of that file. */
async function install(): Promise<string> {
  const version = /^schemathesis==(\S+)$/m.exec(await readFile(requirements, 'utf8'))?.[1];
  const home = join(root, '.cache', `schemathesis-${version}`);
  const binary = join(home, 'bin', 'schemathesis');
  if (existsSync(binary)) return binary;
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--requirement', requirements];
  const steps: [string, string[]][] = [
    ['python3', ['-m', 'venv', '--clear', home]],
    [join(home, 'bin', 'python'), pip],
  ];
  for (const [command, args] of steps) {
    const code = await run(command, args, process.env);
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} exited with ${code}`);
  }
  return binary;
}

/** The status that `run` returns for a program that a signal has ended. */
const brokenOff = -1;
/** Milliseconds that schemathesis may take to write its findings. */
const graceMs = 20_000;

/** Runs a program. After `limitMs` it is stopped as by Ctrl-C, and killed if it does not end. */
async function run(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  limitMs = 3_600_000,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const child = spawn(command, args, { env, cwd: here, stdio: 'inherit' });
  child.once('error', reject);
  child.once('close', (code) => resolve(code ?? brokenOff));
  const timers = [
    setTimeout(() => child.kill('SIGINT'), limitMs),
    setTimeout(() => child.kill('SIGKILL'), limitMs + graceMs),
  ];
  return promise.finally(() => timers.forEach(clearTimeout));
}
