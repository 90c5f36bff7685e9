import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { quietCores } from '../quiet/wait-for-quiet.ts';
import { type Aim, aimsOf } from './aims.ts';
import { deviceDaySection, deviceDaysOf } from './device-day.ts';
import type { Machine } from './machine.ts';
import { operationsSection } from './operations-section.ts';
import { eventsSection, floodSection, growthSection } from './plain-sections.ts';
import { pushSection } from './push-section.ts';
import type { BenchResults, Surroundings } from './results.ts';
import { markdownTable, paragraphs, plotsDirectory, type Section } from './section.ts';

/** The text of docs/benchmarks.md, and the page's drawings by file name. */
export interface BenchmarksPage {
  readonly text: string;
  readonly plots: Readonly<Record<string, string>>;
}

export function benchmarksPage(results: BenchResults): BenchmarksPage {
  const sections = sectionsOf(results);
  const text = paragraphs(
    '# Benchmarks',
    `\`npm run bench\` wrote this page, and measured everything on it in one run of ${results.minutes.toFixed(0)} minutes. Change the program, not this page. [performance.md](performance.md) says where the time of the hot paths goes.`,
    machineTable(results.machine),
    leftOutText(results.leftOut),
    surroundingsText(results.surroundings),
    '## Aims',
    aimsTable(aimsOf(results)),
    ...sections.flatMap(({ heading, text: of }) => [`## ${heading}`, of]),
  );
  return { text: `${text}\n`, plots: Object.assign({}, ...sections.map(({ plots }) => plots)) };
}

function sectionsOf(results: BenchResults): Section[] {
  const { operations, events, push, growth, flood } = results;
  const days = deviceDaysOf(results);
  return [
    ...(operations ? [operationsSection(operations)] : []),
    ...(events ? [eventsSection(events)] : []),
    ...(push ? [pushSection(push)] : []),
    ...(growth ? [growthSection(growth)] : []),
    ...(flood ? [floodSection(flood)] : []),
    ...(operations && days.length > 0 ? [deviceDaySection(days, operations)] : []),
  ];
}

function machineTable(machine: Machine): string {
  return markdownTable(
    ['', ''],
    [
      ['day', machine.date],
      [
        'processor',
        `${machine.cpu}, ${machine.cores} cores; ${machine.loadBefore} of them wanted in the minute before`,
      ],
      ['memory', `${machine.memoryGib} GiB`],
      ['system', machine.system],
      ['Node', `${machine.apiNode.slice(1)}; of the gateway, its peers and the load ${machine.node.slice(1)}`],
      ['MongoDB, Redis', `${machine.mongodb} (a replica set of one), ${machine.redis}`],
    ],
  );
}

function leftOutText(names: readonly string[]): string {
  return names.length === 0 ? '' : `Left out, because they were not installed: ${names.join(', ')}.`;
}

/** Describes how quiet the machine was. */
function surroundingsText(surroundings: readonly Surroundings[]): string {
  return paragraphs(
    `Before each part the program waited, for a limited time, until other processes, the kernel’s threads and the hypervisor took less than ${quietCores} cores for five seconds. Then it measured in any case. The table shows what they took during the measurement (/proc/stat, without the run’s own processes):`,
    markdownTable(
      ['part', 'waited', 'quiet then', 'measured for', 'other processes', 'hypervisor'],
      surroundings.map(({ part, waitedSeconds, isQuiet, seconds, others, stolen }) => [
        ...[part, `${waitedSeconds.toFixed(0)} s`, isQuiet ? 'yes' : '**no**', `${seconds.toFixed(0)} s`],
        ...[others, stolen].map((cores) => `${cores.toFixed(2)} cores`),
      ]),
    ),
  );
}

/** Returns the aims as Markdown, with the number of aims that were met. */
function aimsTable(aims: readonly Aim[]): string {
  const rows = aims.map(({ what, aim, measured, isMet, stretch }) => [
    what,
    aim,
    measured,
    isMet ? 'yes' : '**no**',
    stretch === undefined ? '' : `${stretch.aim}: ${stretch.isMet ? 'yes' : 'no'}`,
  ]);
  const met = aims.filter(({ isMet }) => isMet).length;
  const table = markdownTable(['', 'aim', 'this run', 'met', 'beyond the aim'], rows);
  return paragraphs(`${met} of ${aims.length} are met by this run.`, table);
}

/** Writes the page and its drawings into the directory, and removes drawings of an earlier run. */
export async function writePage({ text, plots }: BenchmarksPage, directory: string): Promise<void> {
  const drawings = join(directory, plotsDirectory);
  await rm(drawings, { recursive: true, force: true });
  await mkdir(drawings, { recursive: true });
  for (const [file, svg] of Object.entries(plots)) await writeFile(join(drawings, file), svg);
  await writeFile(join(directory, 'benchmarks.md'), text);
}
