import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { hasCode } from '../has-code.ts';
import type { Log } from '../log.ts';
import { endProcess, isRunning, type ProcessRecord } from './end-process.ts';

/** Says that another `npm run up` uses the same data. */
class AlreadyRunningError extends Error {
  override readonly name = 'AlreadyRunningError';
}

interface RunFileContent {
  readonly owner: ProcessRecord;
  /** The processes, in the order in which they were started. */
  readonly children: ProcessRecord[];
  /** Variables that the services got, so that authctl can find the servers. */
  environment?: Readonly<Record<string, string>>;
}

export interface RunFile {
  /** Records a process that a later start must end if the present one is killed. */
  add(record: ProcessRecord): void;
  /** Publishes the variables by which other programs on this machine find the stack. */
  publish(environment: Readonly<Record<string, string>>): void;
  /**
   * Ends every recorded process that still runs, one after the other, the last started first. SIGKILL does not let them
   * shut down in order.
   */
  endChildren(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  remove(): void;
}

/**
 * Claims the data directory for the present process. If a killed process left a file, its processes that still run are
 * ended first. Throws `AlreadyRunningError` if the owner of the file is still running.
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
  // Readable only by its owner, because it may contain secrets.
  const save = (flag = 'w') => writeFileSync(path, JSON.stringify(content), { flag, mode: 0o600 });
  // "wx" fails if another start was faster.
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
    // The process was killed while it wrote, so the content of the file is lost.
    if (error instanceof SyntaxError) {
      rmSync(path, { force: true });
      return undefined;
    }
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
