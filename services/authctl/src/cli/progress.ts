import { MultiBar } from 'cli-progress';
import type { Terminal } from './terminal.ts';

/** Progress of an operation, for people. */
export interface Progress {
  advance(amount: number): void;
  /** Sets the text to the right of the bar. */
  note(text: string): void;
  /** Prints a separate line, with or without a bar. */
  say(line: string): void;
  close(): void;
}

/** Creates a bar if stderr is a terminal. Otherwise only lines are printed. `total` and the increments are in bytes. */
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
