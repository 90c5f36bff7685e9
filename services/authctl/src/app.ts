import { Command, CommanderError } from '@commander-js/extra-typings';
import manifest from '../package.json' with { type: 'json' };
import { exitCodes } from './cli/command-error.ts';
import type { Shell } from './cli/shell.ts';
import type { Terminal } from './cli/terminal.ts';

/** Adds a command, with its subcommands, to the program. */
type AddCommand = (program: Command, shell: Shell) => void;

/** The commands, in the order of the help. Each loads its module, with all drivers and libraries that it needs. */
const commands = {
  events: async () => (await import('./commands/events/event-commands.ts')).addEventCommands,
  sessions: async () => (await import('./commands/sessions/session-commands.ts')).addSessionCommands,
  user: async () => (await import('./commands/users/user-commands.ts')).addUserCommands,
  commands: async () => (await import('./commands/force-logout/command-commands.ts')).addCommandCommands,
  trace: async () => (await import('./commands/trace/trace-command.ts')).addTraceCommand,
  keys: async () => (await import('./commands/keys/key-commands.ts')).addKeyCommands,
  doctor: async () => (await import('./commands/doctor/doctor-command.ts')).addDoctorCommand,
  probe: async () => (await import('./commands/probe/probe-command.ts')).addProbeCommand,
} satisfies Record<string, () => Promise<AddCommand>>;

type CommandName = keyof typeof commands;
const commandNames = Object.keys(commands) as CommandName[];

/** Creates the program without its commands. */
export function createProgram({ stdout, stderr }: Terminal): Command {
  return new Command('authctl')
    .description("The operator's tool of the authentication and account service")
    .option('--json', 'print JSON, errors too')
    .version(manifest.version, '--version', 'print the version')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      // Errors are reported once, at the end of the program.
      outputError: () => undefined,
    }) as Command;
}

/** Loads these commands, by default all, and adds them to the program. They use the shell. */
export async function addCommands(program: Command, shell: Shell, names = commandNames): Promise<void> {
  const loaded = await Promise.all(names.map((name): Promise<AddCommand> => commands[name]()));
  for (const add of loaded) add(program, shell);
}

/** Runs one command line (without the program's name) and returns the exit code. It never rejects. */
export async function runAuthctl(args: readonly string[], terminal: Terminal): Promise<number> {
  const isJson = args.includes('--json');
  try {
    const program = createProgram(terminal);
    const names = commandsFor(args);
    const shell = names.length === 0 ? undefined : await loadShell(terminal, isJson);
    if (shell !== undefined) await addCommands(program, shell, names);
    await program.parseAsync([...args], { from: 'user' });
    return shell?.exitCode() ?? exitCodes.ok;
  } catch (error) {
    if (error instanceof CommanderError && isHelp(error)) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    const { toFailure } = await import('./cli/to-failure.ts');
    const { message, exitCode } = toFailure(error);
    const text = isJson ? JSON.stringify({ error: { message, exit_code: exitCode } }) : `authctl: ${message}`;
    terminal.stderr.write(`${text}\n`);
    return exitCode;
  }
}

/**
 * Returns the commands that a command line needs: its own, none for the version, and all for the help or an unknown
 * command. No option before a command's name has a value.
 */
function commandsFor(args: readonly string[]): CommandName[] {
  const called = args.find((arg) => !arg.startsWith('-'));
  const own = commandNames.filter((name) => name === called);
  return own.length === 0 && !args.includes('--version') ? commandNames : own;
}

async function loadShell(terminal: Terminal, isJson: boolean): Promise<Shell> {
  const { createShell } = await import('./cli/shell.ts');
  return createShell(terminal, () => isJson);
}

/** Help and version have already been printed when they end the program. */
function isHelp({ code }: CommanderError): boolean {
  return ['commander.help', 'commander.helpDisplayed', 'commander.version'].includes(code);
}
