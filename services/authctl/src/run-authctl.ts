import { CommanderError } from '@commander-js/extra-typings';
import { createProgram } from './app.ts';
import { exitCodes } from './cli/exit-codes.ts';
import { createShell } from './cli/shell.ts';
import type { Terminal } from './cli/terminal.ts';
import { toFailure } from './cli/to-failure.ts';

/** Runs one command line (without the program's name) and gives the exit code. It never rejects. */
export async function runAuthctl(args: readonly string[], terminal: Terminal): Promise<number> {
  const isJson = args.includes('--json');
  const shell = createShell(terminal, () => isJson);
  try {
    await createProgram(shell).parseAsync([...args], { from: 'user' });
    return shell.exitCode();
  } catch (error) {
    if (error instanceof CommanderError && isHelp(error)) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    const { message, exitCode } = toFailure(error);
    const text = isJson ? JSON.stringify({ error: { message, exit_code: exitCode } }) : `authctl: ${message}`;
    terminal.stderr.write(`${text}\n`);
    return exitCode;
  }
}

/** Help and version are printed already when they end the program. */
function isHelp({ code }: CommanderError): boolean {
  return ['commander.help', 'commander.helpDisplayed', 'commander.version'].includes(code);
}
