import { Command, CommanderError } from '@commander-js/extra-typings';
import { exitCodes, toFailure } from './cli/command-error.ts';
import { createShell, type Shell } from './cli/shell.ts';
import type { Terminal } from './cli/terminal.ts';
import { addDoctorCommand } from './commands/doctor/doctor-command.ts';
import { addEventCommands } from './commands/events/event-commands.ts';
import { addCommandCommands } from './commands/force-logout/command-commands.ts';
import { addKeyCommands } from './commands/keys/key-commands.ts';
import { addProbeCommand } from './commands/probe/probe-command.ts';
import { addSessionCommands } from './commands/sessions/session-commands.ts';
import { addTraceCommand } from './commands/trace/trace-command.ts';
import { addUserCommands } from './commands/users/user-commands.ts';

/** Creates the whole program. Its commands use the shell. */
export function createProgram(shell: Shell): Command {
  const { stdout, stderr } = shell.terminal;
  const program = new Command('authctl')
    .description("The operator's tool of the authentication and account service")
    .option('--json', 'print JSON, errors too')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      // Errors are reported once, at the end of the program.
      outputError: () => undefined,
    });
  addEventCommands(program, shell);
  addSessionCommands(program, shell);
  addUserCommands(program, shell);
  addCommandCommands(program, shell);
  addTraceCommand(program, shell);
  addKeyCommands(program, shell);
  addDoctorCommand(program, shell);
  addProbeCommand(program, shell);
  return program as Command;
}

/** Runs one command line (without the program's name) and returns the exit code. It never rejects. */
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

/** Help and version have already been printed when they end the program. */
function isHelp({ code }: CommanderError): boolean {
  return ['commander.help', 'commander.helpDisplayed', 'commander.version'].includes(code);
}
