import { readFileSync } from 'node:fs';
import { generateSections, toTable } from './page-sections.ts';

/** Writes docs/push.md's tables of frames and close codes from docs/asyncapi.json. With --check it only compares. */

const CONTRACT = new URL('../../../docs/asyncapi.json', import.meta.url);

interface Reference {
  readonly $ref: string;
}

interface Operation {
  readonly action: 'send' | 'receive';
  readonly channel: Reference;
  readonly messages: readonly Reference[];
  readonly reply?: { readonly messages: readonly Reference[] };
}

interface Contract {
  readonly channels: {
    readonly pushStream: {
      readonly 'x-close-codes': {
        readonly codes: readonly {
          readonly code: number;
          readonly reason: string;
          readonly reaction: string;
          readonly description: string;
        }[];
        readonly other: { readonly reaction: string; readonly description: string };
      };
    };
  };
  readonly operations: Readonly<Record<string, Operation>>;
  readonly components: {
    readonly messages: Readonly<Record<string, { readonly summary: string; readonly payload: Reference }>>;
    readonly schemas: Readonly<
      Record<string, { readonly properties?: Readonly<Record<string, { readonly const?: string }>> }>
    >;
  };
}

const nameOf = ({ $ref }: Reference) => $ref.split('/').at(-1) ?? '';

function framesTables({ operations, components }: Contract): string {
  const ofStream = Object.values(operations).filter(({ channel }) => nameOf(channel) === 'pushStream');
  const received = ofStream.flatMap(({ action, messages }) => (action === 'receive' ? messages.map(nameOf) : []));
  const sent = ofStream.flatMap(({ action, messages, reply }) => [
    ...(action === 'send' ? messages.map(nameOf) : []),
    ...(reply?.messages ?? []).map(nameOf),
  ]);
  const rowsOf = (names: readonly string[]) =>
    Object.entries(components.messages)
      .filter(([name]) => names.includes(name))
      .map(([, { summary, payload }]) => {
        const members = Object.entries(components.schemas[nameOf(payload)]?.properties ?? {});
        const shown = members.map(
          ([name, value]) => `"${name}"${value.const === undefined ? '' : `:"${value.const}"`}`,
        );
        return [`\`{${shown.join(',')}}\``, summary];
      });
  return [toTable(['To the app', 'When'], rowsOf(sent)), toTable(['From the app', ''], rowsOf(received))].join('\n\n');
}

function closesTable({ channels }: Contract): string {
  const { codes, other } = channels.pushStream['x-close-codes'];
  const rows = codes.map(({ code, reason, reaction, description }) => [
    String(code),
    `\`${reason}\``,
    `\`${reaction}\``,
    description,
  ]);
  const last = ['1006, any other', '', `\`${other.reaction}\``, other.description];
  return toTable(['Code', 'Reason', 'For programs', 'What the app does'], [...rows, last]);
}

const contract: Contract = JSON.parse(readFileSync(CONTRACT, 'utf8'));
const sections = { frames: framesTables(contract), closes: closesTable(contract) };
generateSections({ page: 'docs/push.md', generator: 'streams', sections });
