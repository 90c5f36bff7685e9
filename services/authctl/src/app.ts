import { Command } from '@commander-js/extra-typings';
import type { Shell } from './cli/shell.ts';
import { addDoctorCommand } from './doctor/doctor-command.ts';
import { addEventCommands } from './events/event-commands.ts';
import { addCommandCommands } from './force-logout/command-commands.ts';
import { addKeyCommands } from './keys/key-commands.ts';
import { addProbeCommand } from './probe/probe-command.ts';
import { addSessionCommands } from './sessions/session-commands.ts';
import { addTraceCommand } from './trace/trace-command.ts';
import { addUserCommands } from './users/user-commands.ts';

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
