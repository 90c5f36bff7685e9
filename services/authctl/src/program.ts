import { Command } from '@commander-js/extra-typings';
import { addCommandCommands } from './commands/command-commands.ts';
import { addDoctorCommand } from './commands/doctor-command.ts';
import { addEventCommands } from './commands/event-commands.ts';
import { addKeyCommands } from './commands/key-commands.ts';
import { addProbeCommand } from './commands/probe-command.ts';
import { addSessionCommands } from './commands/session-commands.ts';
import { addTraceCommand } from './commands/trace-command.ts';
import { addUserCommands } from './commands/user-commands.ts';
import type { Shell } from './shell.ts';

/** The whole program; what it runs uses the shell. */
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
      // Told once, where the program ends.
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
