import type { Deed, Place, Step } from '../../src/live/step.ts';
import type { Owner, Traffic } from '../phone/traffic.ts';

/** The vertical lines of the picture, from left to right. */
export const lanes = ['anna', 'api', 'mongodb', 'redis', 'worker', 'gateway', 'subscribers', 'ben'] as const;
export type Lane = (typeof lanes)[number];

/** Text of an arrow, as data. */
export type Saying =
  | Exclude<Deed, { readonly kind: 'request' }>
  | { readonly kind: 'request'; readonly method: string; readonly path: string }
  | { readonly kind: 'lost' | 'unsent' | 'kept' | 'stream_opened' }
  | { readonly kind: 'stream_closed'; readonly code: number; readonly reason: string }
  | { readonly kind: 'frame'; readonly frame: string };

/** One line of the picture. */
export interface Arrow {
  readonly id: string;
  readonly from: Lane;
  readonly to: Lane;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Undefined if it has none that is known. */
  readonly durationMs: number | undefined;
  readonly saying: Saying;
}

/** Everything that one request has caused. */
export interface Chapter {
  readonly requestId: string;
  /** Undefined: somebody else's, of a terminal for example. */
  readonly owner: Owner | undefined;
  readonly arrows: readonly Arrow[];
}

/** The picture: its chapters in the order in which they began. */
export type Sequence = readonly Chapter[];

const chaptersKept = 60;

/** Adds what a phone has seen. */
export function withTraffic(sequence: Sequence, traffic: Traffic): Sequence {
  const { owner, at, type } = traffic;
  switch (type) {
    case 'sent':
      return add(sequence, traffic.requestId, owner, [
        arrowOf(`${traffic.requestId}-sent`, owner, 'api', at, { ...traffic, kind: 'request' }),
      ]);
    case 'unsent':
      return add(sequence, traffic.requestId, owner, [
        arrowOf(`${traffic.requestId}-unsent-${at}`, owner, owner, at, {
          kind: isKept(traffic.path) ? 'kept' : 'unsent',
        }),
      ]);
    case 'lost':
      return add(sequence, traffic.requestId, owner, [
        arrowOf(`${traffic.requestId}-lost`, 'api', owner, at, { kind: 'lost' }),
      ]);
    default:
      return withStream(sequence, traffic);
  }
}

/** A logout is the one thing that the client sends later, whatever happens to the app. */
const isKept = (path: string) => path.endsWith('/logout');

type StreamTraffic = Extract<Traffic, { readonly type: 'stream_opened' | 'stream_closed' | 'frame' }>;

/** A stream's lines have no request: those that follow each other are one chapter. */
function withStream(sequence: Sequence, traffic: StreamTraffic): Sequence {
  const { owner, at } = traffic;
  const last = sequence.at(-1);
  const id = `stream-${owner}-`;
  const chapter = last?.requestId.startsWith(id) ? last.requestId : `${id}${at}`;
  const arrow = arrowOf(`${chapter}-${last?.arrows.length ?? 0}-${at}`, 'gateway', owner, at, sayingOf(traffic));
  const isFromPhone = traffic.type === 'stream_opened' || (traffic.type === 'frame' && traffic.isFromPhone);
  return add(sequence, chapter, owner, [isFromPhone ? { ...arrow, from: owner, to: 'gateway' } : arrow]);
}

function sayingOf(traffic: StreamTraffic): Saying {
  if (traffic.type === 'stream_opened') return { kind: 'stream_opened' };
  if (traffic.type === 'frame') return { kind: 'frame', frame: traffic.frame };
  return { kind: 'stream_closed', code: traffic.code, reason: traffic.reason };
}

function arrowOf(id: string, from: Lane, to: Lane, at: number, saying: Saying): Arrow {
  return { id, from, to, at, durationMs: undefined, saying };
}

/** Adds what the services have reported. */
export function withSteps(sequence: Sequence, steps: readonly Step[]): Sequence {
  return steps.reduce((all, step) => withStep(all, step), sequence);
}

function withStep(sequence: Sequence, step: Step): Sequence {
  const { requestId, deed, at, durationMs } = step;
  const chapter = sequence.find((each) => each.requestId === requestId);
  // The phone has drawn the request already, and its answer is drawn as the phone saw it.
  if (deed.kind === 'request' && chapter?.owner) return sequence;
  if (deed.kind === 'answer' && chapter?.arrows.some(({ saying }) => saying.kind === 'lost')) {
    return sequence.map((each) => (each === chapter ? withLostAnswer(each, step) : each));
  }
  const owner = chapter?.owner;
  const saying: Saying = deed.kind === 'request' ? { kind: 'request', method: deed.method, path: deed.route } : deed;
  const arrow: Arrow = { id: step.id, ...endsOf(step, owner), at, durationMs, saying };
  return add(sequence, requestId, owner, [arrow]);
}

/** Puts the lost answer at its place, after everything that the service did. */
function withLostAnswer(chapter: Chapter, { at, durationMs }: Step): Chapter {
  const arrows = chapter.arrows.map((arrow) => (arrow.saying.kind === 'lost' ? { ...arrow, at, durationMs } : arrow));
  return { ...chapter, arrows: sorted(arrows) };
}

function endsOf({ from, to }: Step, owner: Owner | undefined): { from: Lane; to: Lane } {
  const laneOf = (place: Place): Lane => (place === 'phone' ? (owner ?? 'api') : place);
  return { from: laneOf(from), to: laneOf(to) };
}

const sorted = (arrows: readonly Arrow[]) => arrows.toSorted((one, other) => one.at - other.at);

function add(sequence: Sequence, requestId: string, owner: Owner | undefined, arrows: readonly Arrow[]): Sequence {
  const known = sequence.find((chapter) => chapter.requestId === requestId);
  if (known === undefined) return [...sequence, { requestId, owner, arrows }].slice(-chaptersKept);
  const fresh = arrows.filter(({ id }) => known.arrows.every((arrow) => arrow.id !== id));
  return sequence.map((chapter) =>
    chapter === known ? { ...known, arrows: sorted([...known.arrows, ...fresh]) } : chapter,
  );
}
