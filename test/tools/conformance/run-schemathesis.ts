import { spawn } from 'node:child_process';
import { once } from 'node:events';
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

/** Number of cases per operation that the fuzzing phase generates. Those of other phases come in addition. */
const casesEach = 3_000;
/**
 * The time after which a run is ended, as by Ctrl-C, and has failed. With a limit of its own, schemathesis would always
 * use up the time.
 */
const limitMs = 900_000;

interface Report {
  readonly test_cases: { readonly generated: number; readonly unique_failures: number; readonly errored: number };
  readonly operations: { readonly selected: number; readonly tested: number; readonly errored: number };
  readonly exit_code: number;
}

/**
 * Runs schemathesis with every check against a separate api, which validates its answers. The api's hashes are cheap,
 * because they are not tested here.
 */
export async function runSchemathesis() {
  const binary = await install();
  await mkdir(join(root, 'reports'), { recursive: true });
  const api = await startTestApi({
    ARGON2_MEMORY_KIB: '64',
    ARGON2_PASSES: '1',
    HASH_QUEUE_TIMEOUT_MS: '60000',
    ACCESS_TOKEN_TTL_SECONDS: '86400',
  });
  await completeDenyListOf(api.keyPrefix);
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
      shares.map((share, i): Promise<Report> => {
        const isLeaving = share.operations.length === 1 && share.operations[0] === leaving;
        const token = isLeaving ? accessTokens.leaving : accessTokens.staying;
        return runShare(binary, {
          ...share,
          base: api.base,
          env: { ...env, CONFORMANCE_ACCESS_TOKEN: token },
          number: i + 1,
        });
      }),
    );
    const sum = (count: (report: Report, isStateful: boolean) => number) =>
      reports.reduce((all, report, i) => all + count(report, shares[i]?.phases === 'stateful'), 0);
    return {
      cases: sum(({ test_cases }) => test_cases.generated),
      failures: sum(({ test_cases }) => test_cases.unique_failures),
      /** Number of operations that could not be tried, plus that of runs that ended badly. */
      errors: sum(errorsOf),
    };
  } finally {
    await api.close();
  }
}

interface Share {
  readonly operations: readonly string[];
  readonly phases: string;
  readonly base: string;
  readonly env: NodeJS.ProcessEnv;
  readonly number: number;
}

/** Runs schemathesis for a share of the operations. Throws if it writes no report. */
async function runShare(binary: string, share: Share): Promise<Report> {
  const report = join(root, 'reports', `schemathesis-${share.number}.json`);
  // An earlier run's report must not be mistaken for this run's.
  await rm(report, { force: true });
  const operations = share.operations.flatMap((id) => ['--include-operation-id', id]);
  const limits = ['--phases', share.phases, '--max-examples', String(casesEach)];
  const output = ['--report-json-path', report, '--no-color', '--generation-database', 'none'];
  const args = ['--config-file', join(here, 'schemathesis.toml'), 'run', `${share.base}/openapi.json`];
  const all = [...args, ...operations, ...limits, '--seed', '1', ...output];
  const code = await run(binary, all, share.env);
  if (existsSync(report)) return JSON.parse(await readFile(report, 'utf8')) as Report;
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

/** Runs a program to its end, and returns its exit code; null if a signal has ended it. Throws if it takes too long. */
async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number | null> {
  const ending = { timeout: limitMs, killSignal: 'SIGINT' } as const;
  const child = spawn(command, args, { env, cwd: here, stdio: 'inherit', ...ending });
  const [code] = await once(child, 'close');
  if (child.killed) throw new Error(`${command} was ended, as its time was over`);
  return code;
}
