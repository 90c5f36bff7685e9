import { readFileSync } from 'node:fs';
import { type DocumentedMessage, fromApp, toApp } from '../../../libs/contracts/src/asyncapi/stream-messages.ts';
import { code, generateSections, toTable } from './page-sections.ts';

/**
 * Writes docs/push.md's tables of frames from their schemas, and of close codes from docs/asyncapi.json. With --check it
 * only compares.
 */

interface Close {
  readonly code: number;
  readonly reason: string;
  readonly reaction: string;
  readonly description: string;
}

function framesTable(head: readonly string[], messages: Readonly<Record<string, DocumentedMessage>>): string {
  const rows = Object.values(messages).map(({ schema, summary }) => {
    const members = Object.entries<{ readonly const?: string }>(Object(schema).properties);
    const shown = members.map(([name, value]) => `"${name}"${value.const === undefined ? '' : `:"${value.const}"`}`);
    return [code(`{${shown.join(',')}}`), summary];
  });
  return toTable(head, rows);
}

const { channels } = JSON.parse(readFileSync('docs/asyncapi.json', 'utf8'));
const { codes, other }: { codes: Close[]; other: Close } = channels.pushStream['x-close-codes'];
const rows = codes.map((close) => [close.code, code(close.reason), code(close.reaction), close.description]);
const last = ['1006, any other', '', code(other.reaction), other.description];
const frames = [framesTable(['To the app', 'When'], toApp), framesTable(['From the app', ''], fromApp)].join('\n\n');
const closes = toTable(['Code', 'Reason', 'For programs', 'What the app does'], [...rows, last]);
generateSections({ page: 'docs/push.md', generator: 'streams', sections: { frames, closes } });
