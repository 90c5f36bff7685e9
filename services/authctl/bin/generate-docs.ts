import { PassThrough } from 'node:stream';
import { describeConfig } from '@auth-account/config';
import type { Argument, Command } from 'commander';
import { generateSections, toTable } from '../../../test/tools/generate/page-sections.ts';
import { addCommands, createProgram } from '../src/app.ts';
import { createShell } from '../src/cli/shell.ts';
import { probeConfig } from '../src/probe/probe-config.ts';
import { endReasons } from './end-reasons.ts';

/** Writes the commands and the variables of `probe` into docs/authctl.md, and the reasons of ends into docs/signed-out.md. */

type Leaf = Pick<Command, 'commands' | 'options' | 'registeredArguments' | 'name' | 'description' | 'usage'>;

function leavesOf(command: Leaf, path: readonly string[]): { readonly path: string; readonly command: Leaf }[] {
  const here = [...path, command.name()];
  if (command.commands.length === 0) return [{ path: here.join(' '), command }];
  return command.commands.flatMap((child) => leavesOf(child, here));
}

interface Described {
  readonly mandatory?: boolean;
  readonly argChoices?: readonly string[];
  readonly defaultValue?: unknown;
  readonly defaultValueDescription?: string;
}

function remarkOf({ mandatory, argChoices, defaultValue, defaultValueDescription }: Described): string {
  const value = defaultValueDescription ?? (defaultValue === '' ? undefined : defaultValue);
  const remarks = [
    ...(mandatory ? ['required'] : []),
    ...(argChoices ? [`one of ${argChoices.map((choice) => `\`${choice}\``).join(', ')}`] : []),
    ...(value === undefined ? [] : [`default \`${String(value)}\``]),
  ];
  return remarks.length === 0 ? '' : ` (${remarks.join('; ')})`;
}

function argumentText(argument: Argument): string {
  const text = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${text}>` : `[${text}]`;
}

function section({ path, command }: ReturnType<typeof leavesOf>[number]): string {
  const args = command.registeredArguments;
  const argumentLines = args
    .filter(({ description, argChoices }) => description || argChoices)
    .map((argument) => `- \`${argumentText(argument)}\` ${argument.description}${remarkOf(argument)}`);
  const optionLines = command.options.map((option) => `- \`${option.flags}\` ${option.description}${remarkOf(option)}`);
  const title = [path, ...args.map(argumentText)].join(' ');
  const description = command.description();
  const sentence = `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
  const lines = [...argumentLines, ...optionLines];
  return [`### \`${title}\``, sentence, ...(lines.length > 0 ? [lines.join('\n')] : [])].join('\n\n');
}

function probeVariables(): string {
  const rows = describeConfig(probeConfig).map(({ name, default: value, description, secret }) => {
    const file = secret ? `. From a file: \`${name}_FILE\`` : '';
    return `| \`${name}\` | ${value ? `\`${value}\`` : ''} | ${description}${file} |`;
  });
  return [
    '### Variables of `authctl probe`\n',
    '| Variable | Default | Meaning |',
    '| --- | --- | --- |',
    ...rows,
  ].join('\n');
}

const silent = () => new PassThrough();
const terminal = {
  stdin: silent(),
  stdout: silent(),
  stderr: silent(),
  isInteractive: false,
  hasProgress: false,
  now: () => new Date(),
};
const program = createProgram(terminal);
await addCommands(
  program,
  createShell(terminal, () => false),
);
const commands = leavesOf(program as unknown as Leaf, []).map(section);
const text = [...commands, probeVariables()].join('\n\n');
generateSections({ page: 'docs/authctl.md', generator: 'authctl', sections: { commands: text } });

const head = ['`reason` of the session that ended then', 'What happened', 'What you say to the user, or look at next'];
const rows = Object.entries(endReasons).map(([reason, cells]) => [`\`${reason}\``, ...cells]);
generateSections({
  page: 'docs/signed-out.md',
  generator: 'authctl',
  sections: { 'end-reasons': toTable(head, rows) },
});
