import { lines, of } from './panel.ts';
import type { Row } from './to-grafana.ts';

/** Panels about the processes of every service. */
export const processRow: Row = {
  title: 'Processes',
  panels: [
    lines([[`rate(process_cpu_seconds_total${of()}[$__rate_interval])`, '{{instance}}']], {
      title: 'CPU',
      description: 'Cores in use.',
      unit: 'none',
    }),
    lines([[`process_resident_memory_bytes${of()}`, '{{instance}}']], {
      title: 'Memory',
      description: 'Resident.',
      unit: 'bytes',
    }),
    lines([[`nodejs_eventloop_lag_p99_seconds${of()}`, '{{instance}}']], {
      title: 'Lag of the event loop, p99',
      description: 'Every request of the process waits that long.',
      unit: 's',
    }),
    lines([[`auth_ready${of()}`, '{{instance}}']], {
      title: 'Ready',
      description: '1 if /readyz answers 200.',
      unit: 'none',
    }),
    lines([[`max by (instance, file) (auth_key_file_refused${of()})`, '{{instance}} {{file}}']], {
      title: 'Key files refused',
      description: '1: the content is refused, and the former keys stay.',
      unit: 'none',
    }),
    lines([[`count by (version, node) (auth_build_info${of()})`, '{{version}} on Node {{node}}']], {
      title: 'Builds',
      description: 'How many processes run which.',
      unit: 'none',
    }),
  ],
};
