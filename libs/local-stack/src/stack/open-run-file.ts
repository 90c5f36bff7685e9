import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { hasCode } from '../has-code.ts';
import type { Log } from '../log.ts';
import { endProcess, isRunning, type ProcessRecord } from './end-process.ts';

/** Another `npm run up` uses the same data. */
class AlreadyRunningError extends Error {
  override readonly name = 'AlreadyRunningError';
}

interface RunFileContent {
  readonly owner: ProcessRecord;
  /** In the order of their starts. */
  readonly children: ProcessRecord[];
  /** What the services were given, so that authctl can find them. */
  environment?: Readonly<Record<string, string>>;
}

export interface RunFile {
  /** Notes a process that a later start must end should the present one be killed. */
  add(record: ProcessRecord): void;
  /** Publishes the variables by which others on this machine find the stack. */
  publish(environment: Readonly<Record<string, string>>): void;
  /** Ends every noted process that still runs, the last started first: in order, or at once with SIGKILL. */
  endChildren(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  remove(): void;
}

/**
 * Claims the data directory for the present process. A file that an earlier, killed process left is honoured first: the
 * processes it names are ended, if they are still the same. Throws `AlreadyRunningError` when its owner lives.
 */
export async function openRunFile(path: string, log: Log): Promise<RunFile> {
  const content: RunFileContent = {
    owner: { pid: process.pid, marker: basename(process.argv[1] ?? process.execPath) },
    children: [],
  };
  const previous = findContent(path);
  if (previous !== undefined) {
    if (await isRunning(previous.owner)) {
      throw new AlreadyRunningError(
        `It runs already, as process ${previous.owner.pid}; end that one with Ctrl-C (or SIGTERM) first.`,
      );
    }
    await endAll(previous.children, log);
    rmSync(path, { force: true });
  }
  // For the owner alone: it may name secrets.
  const save = (flag = 'w') => writeFileSync(path, JSON.stringify(content), { flag, mode: 0o600 });
  // "wx" fails where another start was faster by a moment.
  save('wx');
  return {
    add(record) {
      content.children.push(record);
      save();
    },
    publish(environment) {
      content.environment = environment;
      save();
    },
    endChildren: (signal) => endAll(content.children, log, signal),
    remove: () => rmSync(path, { force: true }),
  };
}

function findContent(path: string): RunFileContent | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    // Killed while it wrote: what the file named cannot be known any more.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function endAll(children: readonly ProcessRecord[], log: Log, signal?: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  for (const child of children.toReversed()) {
    if (!(await isRunning(child))) continue;
    log(`Ending process ${child.pid} (${child.marker})`);
    await endProcess(child, signal);
  }
}
