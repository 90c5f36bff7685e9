import { writeFileSync } from 'node:fs';
import { getHeapCodeStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/**
 * For `node --import`: after each SIGUSR2 the process collects its garbage and writes its {@link HeapReport} into
 * `HEAP_REPORTS/PID.json`.
 */
export interface HeapReport {
  /** V8's memory before the collection, in bytes. */
  readonly heap: number;
  /** Memory of living objects, in bytes. */
  readonly used: number;
  /** Machine code and byte code, in bytes. */
  readonly code: number;
  /** Text of the modules, in bytes. It is outside V8's heap. */
  readonly text: number;
}

if (isMainThread) {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  process.on('SIGUSR2', () => {
    const { total_physical_size: heap } = getHeapStatistics();
    collect();
    const code = getHeapCodeStatistics();
    const report: HeapReport = {
      heap,
      used: getHeapStatistics().used_heap_size,
      code: code.code_and_metadata_size + code.bytecode_and_metadata_size,
      text: code.external_script_source_size,
    };
    writeFileSync(`${process.env.HEAP_REPORTS}/${process.pid}.json`, JSON.stringify(report));
  });
}
