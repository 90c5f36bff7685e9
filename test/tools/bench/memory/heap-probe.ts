import { writeFileSync } from 'node:fs';
import { getHeapCodeStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/**
 * For `node --import`: after each SIGUSR2 the process collects its garbage and writes its {@link HeapReport} into
 * `HEAP_REPORTS/PID.json`.
 */
export type HeapReport = ReturnType<typeof collectAndLook>;

/** Returns bytes. `heap` is V8's memory before the collection, `used` that of living objects after it. */
function collectAndLook(collect: () => void) {
  const { total_physical_size: heap } = getHeapStatistics();
  collect();
  const { code_and_metadata_size, bytecode_and_metadata_size, external_script_source_size } = getHeapCodeStatistics();
  return {
    heap,
    used: getHeapStatistics().used_heap_size,
    /** Machine code and byte code. */
    code: code_and_metadata_size + bytecode_and_metadata_size,
    /** Text of the modules, which is outside V8's heap. */
    text: external_script_source_size,
  };
}

if (isMainThread) {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  process.on('SIGUSR2', () => {
    writeFileSync(`${process.env.HEAP_REPORTS}/${process.pid}.json`, JSON.stringify(collectAndLook(collect)));
  });
}
