interface Position {
  readonly line: number;
  readonly column: number;
}

/** A mutant as Stryker reports it; positions count from 1. */
export interface ReportedMutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'RuntimeError' | 'CompileError' | 'Ignored';
  readonly location: { readonly start: Position; readonly end: Position };
}

/** Part of Stryker's JSON report that we read (mutation-testing-report-schema, version 2). */
export interface StrykerReport {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly ReportedMutant[] }>>;
}
