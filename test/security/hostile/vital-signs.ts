import type { ServiceName } from '@auth-account/local-stack';
import type { TestStack } from '../../support/processes/test-stack.ts';

/** Condition of a service's process. */
export interface VitalSigns {
  readonly pid: number | undefined;
  readonly restarts: number;
  /** Resident memory in MiB. */
  readonly memory: number;
  /** Answers of 5xx since the start, and refusals of the gateway for its own faults. */
  readonly faults: number;
  /** Lines of the log at `error` and above. */
  readonly errorLines: readonly string[];
}

export const serviceNames = ['api', 'push-gateway', 'worker'] as const satisfies readonly ServiceName[];

const mib = 1_048_576;

export async function takeVitalSigns({ services, ops, logs }: TestStack, name: ServiceName): Promise<VitalSigns> {
  const { text } = await ops(name, '/metrics');
  const faults = [
    ...text.matchAll(/^http_request_duration_seconds_count\{[^}]*status="5\d\d"[^}]*\} (\d+)/gm),
    ...text.matchAll(/^push_upgrades_refused_total\{code="(?:ERR-INTERNAL|ERR-DEPENDENCY-UNAVAILABLE)"\} (\d+)/gm),
  ];
  return {
    pid: services[name].pid(),
    restarts: services[name].restarts(),
    memory: Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / mib,
    faults: faults.reduce((sum, [, count]) => sum + Number(count), 0),
    errorLines: logs[name].filter((line) => /"level":"(?:error|fatal)"/.test(line)),
  };
}
