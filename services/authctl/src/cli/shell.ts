import { createInterface } from 'node:readline/promises';
import { type Config, loadConfig } from '@auth-account/config';
import type { TObject } from '@auth-account/contracts/type';
import type { Plan } from '@auth-account/operations';
import { CommandError, type ExitCode, exitCodes } from './command-error.ts';
import { findLocalStack } from './local-stack.ts';
import type { Terminal } from './terminal.ts';

/** The result of a command. */
export interface Outcome {
  /** Value that `--json` prints. */
  readonly json: unknown;
  /** Text for people; ends without a line break. */
  readonly text: string;
  readonly exitCode?: ExitCode;
}

interface ConfirmOptions {
  /** True if the command line confirms the plan. */
  readonly yes?: true | undefined;
  readonly remarks?: readonly string[];
}

/** Everything external that the commands use: the terminal, the clock, the environment. */
export interface Shell {
  readonly terminal: Terminal;
  readonly now: () => Date;
  /**
   * Reads these variables. Missing variables are taken from the local stack, but not if the command line names a
   * system. Throws a `ConfigError`.
   */
  config<S extends TObject>(schema: S, options?: { readonly isNamed?: boolean }): Config<S>;
  /** Prints the outcome, and stores the exit code. */
  conclude(outcome: Outcome | Promise<Outcome>): Promise<void>;
  /**
   * Runs the plan. First asks its question, if it has one and the command line does not give the answer, and throws if
   * the answer is no. If nobody can be asked, throws an error that names `--yes`. `remarks` are printed above the
   * question.
   */
  carryOut<T>(plan: Plan<T>, options?: ConfirmOptions): Promise<T>;
  exitCode(): ExitCode;
}

/** Creates the shell. It calls `isJson` only once the outcome is known, because by then the options have been read. */
export function createShell(terminal: Terminal, isJson: () => boolean): Shell {
  let exitCode: ExitCode = exitCodes.ok;
  let fallback: ReturnType<typeof findLocalStack> | 'unread' = 'unread';
  return {
    terminal,
    now: terminal.now,
    config(schema, { isNamed = false } = {}) {
      if (fallback === 'unread') fallback = isNamed ? undefined : findLocalStack(terminal);
      return loadConfig(schema, { ...(terminal.env && { env: terminal.env }), fallback });
    },
    async conclude(outcome) {
      const { json, text, exitCode: code = exitCodes.ok } = await outcome;
      exitCode = code;
      terminal.stdout.write(`${isJson() ? JSON.stringify(json, undefined, 2) : text}\n`);
    },
    async carryOut({ question, run }, { yes, remarks = [] } = {}) {
      if (question !== undefined && !yes) await confirm(terminal, [...remarks, question].join('\n'));
      return await run();
    },
    exitCode: () => exitCode,
  };
}

async function confirm({ stdin, stderr, isInteractive }: Terminal, question: string): Promise<void> {
  if (!isInteractive)
    throw new CommandError(`${question} Nobody can be asked: give --yes`, { exitCode: exitCodes.usage });
  const lines = createInterface({ input: stdin, output: stderr });
  const answer = await lines.question(`${question} [y/N] `).finally(() => lines.close());
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('Nothing was done.');
}
