import { quietCores } from '../quiet/wait-for-quiet.ts';
import { type Aim, aimsOf } from './aims.ts';
import type { Machine } from './machine.ts';
import { operationsSection } from './operations-section.ts';
import { eventsSection, growthSection } from './plain-sections.ts';
import { pushSection } from './push-section.ts';
import type { BenchResults, Surroundings } from './results.ts';
import { markdownTable, paragraphs, type Section } from './section.ts';

/** Returns the text of docs/benchmarks.md. */
export function benchmarksPage(results: BenchResults): string {
  const text = paragraphs(
    '# Benchmarks',
    `\`npm run bench\` wrote this page, and measured everything on it in one run of ${results.minutes.toFixed(0)} minutes. Change the program, not this page. [performance.md](performance.md) says where the time of the hot paths goes.`,
    machineTable(results.machine),
    leftOutText(results.leftOut),
    surroundingsText(results.surroundings),
    '## Aims',
    aimsTable(aimsOf(results)),
    ...sectionsOf(results).flatMap(({ heading, text: of }) => [`## ${heading}`, of]),
  );
  return `${text}\n`;
}

function sectionsOf(results: BenchResults): Section[] {
  const { operations, events, push, growth } = results;
  return [
    ...(operations ? [operationsSection(operations)] : []),
    ...(events ? [eventsSection(events)] : []),
    ...(push ? [pushSection(push)] : []),
    ...(growth ? [growthSection(growth)] : []),
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
      ['Node', `${machine.apiNode.slice(1)}; of the gateway and the load ${machine.node.slice(1)}`],
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
  const rows = aims.map(({ what, aim, measured, isMet }) => [what, aim, measured, isMet ? 'yes' : '**no**']);
  const met = aims.filter(({ isMet }) => isMet).length;
  const table = markdownTable(['', 'aim', 'this run', 'met'], rows);
  return paragraphs(`${met} of ${aims.length} are met by this run.`, table);
}
