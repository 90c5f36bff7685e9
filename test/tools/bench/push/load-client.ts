import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ClientOrder, ClientReport, ClientSettings } from './load-client-protocol.ts';

type Report<K extends ClientReport['kind']> = Extract<ClientReport, { kind: K }>;

/** A load client in a separate process. */
export interface LoadClient {
  /** Opens the streams of these sessions. Throws if any fails. */
  open(order: Omit<Extract<ClientOrder, { kind: 'open' }>, 'kind'>): Promise<Report<'opened'>>;
  /** Resolves with the time at which the session's stream closed. Must be called before the action that closes it. */
  closed(index: number): Promise<Report<'closed'>>;
  /** Resolves when the client has begun to count messages. `times` resolves when it has counted `count`. */
  awaitMessages(count: number): Promise<{ readonly times: Promise<readonly number[]> }>;
  /** Number of streams that ended although `closed` had not been called for them. */
  lost(): number;
  end(): Promise<void>;
}

const main = fileURLToPath(new URL('./load-client-main.ts', import.meta.url));

export async function startLoadClient(settings: ClientSettings): Promise<LoadClient> {
  const child = fork(main, [JSON.stringify(settings)], { execArgv: ['--max-old-space-size=4096'] });
  const exited = once(child, 'exit');
  const reports = new EventEmitter().setMaxListeners(0);
  let lost = 0;
  const closing = new Map<number, (report: Report<'closed'>) => void>();
  child.on('message', (report: ClientReport) => {
    if (report.kind !== 'closed') {
      reports.emit(report.kind, report);
      return;
    }
    const awaited = closing.get(report.index);
    if (awaited === undefined) lost += 1;
    awaited?.(report);
    closing.delete(report.index);
  });
  const next = <K extends ClientReport['kind']>(kind: K) =>
    Promise.race([once(reports, kind).then(([report]) => report as Report<K>), failure(child, exited)]);
  await next('started');
  return {
    async open(order) {
      const opened = next('opened');
      child.send({ kind: 'open', ...order } satisfies ClientOrder);
      const report = await opened;
      if (report.failed > 0) throw new Error(`${report.failed} streams did not open: ${report.firstError}`);
      return report;
    },
    closed: (index) => new Promise((resolve) => closing.set(index, resolve)),
    async awaitMessages(count) {
      const awaiting = next('awaiting');
      const times = next('messages').then((report) => report.times);
      child.send({ kind: 'await-messages', count } satisfies ClientOrder);
      await awaiting;
      return { times };
    },
    lost: () => lost,
    async end() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function failure(child: ChildProcess, exited: Promise<unknown>): Promise<never> {
  await exited;
  throw new Error(`the load client ended (${child.exitCode ?? child.signalCode})`);
}
