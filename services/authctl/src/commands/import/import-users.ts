import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Mongo } from '@auth-account/operations';
import { CommandError, exitCodes } from '../../cli/command-error.ts';
import { openProgress } from '../../cli/progress.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { fieldList } from '../../cli/table.ts';
import { type ImportRecord, parseImportRecord } from './parse-import-record.ts';
import { formatOf, type ImportFormat, readRecords } from './read-records.ts';
import { type BatchOptions, writeBatch } from './write-batch.ts';

export interface ImportOptions {
  readonly format?: ImportFormat | undefined;
  readonly batch: number;
  readonly groupNamespace: string;
  readonly emitEvents?: true | undefined;
  readonly dryRun?: true | undefined;
}

/** Limit for the rejected lines in the result. Every rejected line is reported while the file is read. */
const rejectedShown = 1_000;

interface Counts {
  lines: number;
  imported: number;
  existing: number;
  rejected: number;
  groups: number;
}

/**
 * Creates accounts from a file, in transactions of `batch` lines. It may be run again, even after an interruption,
 * because an email address that has an account is skipped. A faulty line is reported on stderr, and only that line is
 * left out.
 */
export async function importUsers(
  { shell, ...mongo }: Mongo & { readonly shell: Shell },
  path: string,
  options: ImportOptions,
): Promise<Outcome> {
  const size = await sizeOf(path);
  const format = options.format ?? formatOf(path);
  const now = shell.now();
  const requestId = options.emitEvents ? `authctl-import-${randomUUID()}` : undefined;
  const isDryRun = options.dryRun === true;
  const batchOptions: BatchOptions = {
    namespace: options.groupNamespace,
    eventsOf: requestId,
    foreseen: isDryRun ? { emailKeys: new Set(), groups: new Map() } : undefined,
    now,
  };
  const counts: Counts = { lines: 0, imported: 0, existing: 0, rejected: 0, groups: 0 };
  const rejected: { line: number; reason: string }[] = [];
  const progress = openProgress(shell.terminal, size);
  const reject = (line: number, reason: string) => {
    counts.rejected += 1;
    if (rejected.length < rejectedShown) rejected.push({ line, reason });
    progress.say(`line ${line}: ${reason}`);
  };
  const flush = async (records: readonly ImportRecord[]) => {
    const plan = await writeBatch(mongo, records, batchOptions);
    counts.imported += plan.users.length;
    counts.existing += plan.existing;
    counts.groups += plan.newGroups.length;
    for (const { line, reason } of plan.rejected) reject(line, reason);
    progress.note(`${counts.imported} new, ${counts.existing} existing, ${counts.rejected} rejected`);
  };

  try {
    let batch: ImportRecord[] = [];
    for await (const read of readRecords(path, format, progress.advance)) {
      counts.lines += 1;
      const record = 'fields' in read ? parseImportRecord(read.fields, read.line, now) : read;
      if ('reason' in record) {
        reject(read.line, record.reason);
        continue;
      }
      batch.push(record);
      if (batch.length < options.batch) continue;
      await flush(batch);
      batch = [];
    }
    if (batch.length > 0) await flush(batch);
  } finally {
    progress.close();
  }
  return toOutcome(counts, { dry_run: isDryRun, request_id: requestId ?? null }, rejected);
}

async function sizeOf(path: string): Promise<number> {
  try {
    const file = await stat(path);
    if (file.isFile()) return file.size;
  } catch (error) {
    throw new CommandError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`, { cause: error });
  }
  throw new CommandError(`${path} is not a file.`, { exitCode: exitCodes.usage });
}

function toOutcome(counts: Counts, run: object, rejected: readonly object[]): Outcome {
  const facts = { ...counts, ...run };
  return {
    json: { ...facts, rejected_lines: rejected },
    text: fieldList(facts),
    exitCode: counts.rejected > 0 ? exitCodes.negative : exitCodes.ok,
  };
}
