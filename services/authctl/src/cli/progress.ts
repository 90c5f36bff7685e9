import { MultiBar } from 'cli-progress';
import type { Terminal } from './terminal.ts';

/** How far something is, for people. */
export interface Progress {
  advance(amount: number): void;
  /** What stands behind the bar. */
  note(text: string): void;
  /** A line of its own, with or without a bar. */
  say(line: string): void;
  close(): void;
}

/** A bar on stderr if that is a terminal; else only what is said. `total` and what is advanced are bytes. */
export function openProgress({ stderr, hasProgress }: Terminal, total: number): Progress {
  if (!hasProgress) {
    return {
      advance: () => undefined,
      note: () => undefined,
      say: (line) => stderr.write(`${line}\n`),
      close: () => undefined,
    };
  }
  const format = '{bar} {percentage} %  {note}';
  const bars = new MultiBar({ format, stream: stderr as NodeJS.WritableStream, hideCursor: true, etaBuffer: 1 });
  const bar = bars.create(total, 0, { note: '' });
  return {
    advance: (amount) => bar.increment(amount),
    note: (text) => bar.update({ note: text }),
    say: (line) => bars.log(`${line}\n`),
    close: () => bars.stop(),
  };
}
