/** A test file in Jest's report (`--json`). */
export interface FileReport {
  /** Path of the file. */
  readonly name: string;
  readonly status: string;
  /** Set if the file could not be run. */
  readonly message: string;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages: readonly string[];
  }[];
}

/** A test that failed. */
export interface Failure {
  readonly file: string;
  readonly title: string;
  readonly message: string;
}

/** Above so many failed files, something is broken, and no second run would say otherwise. */
const maxRepeated = 20;

/** Returns each failed test. A file that failed as a whole counts as one. */
export function failuresIn(files: readonly FileReport[]): Failure[] {
  return files
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name: file, message, assertionResults }) => {
      const failed = assertionResults.filter(({ status }) => status === 'failed');
      if (failed.length === 0) return [{ file, title: 'the file as a whole', message }];
      return failed.map(({ fullName, failureMessages }) => ({
        file,
        title: fullName,
        message: failureMessages.join(),
      }));
    });
}

/**
 * Repeats each failed file once, alone. `repeat` runs a file and returns its report; undefined if there is none.
 * Returns what failed again, and what is flaky: it failed among the others, and its file passed alone.
 */
export async function repeatFailed(
  failures: readonly Failure[],
  repeat: (file: string) => Promise<FileReport | undefined>,
): Promise<{ readonly failed: readonly Failure[]; readonly flaky: readonly Failure[] }> {
  const files = [...new Set(failures.map(({ file }) => file))];
  if (files.length > maxRepeated) return { failed: failures, flaky: [] };
  const passed = new Set<string>();
  for (const file of files) {
    if ((await repeat(file))?.status === 'passed') passed.add(file);
  }
  return {
    failed: failures.filter(({ file }) => !passed.has(file)),
    flaky: failures.filter(({ file }) => passed.has(file)),
  };
}
