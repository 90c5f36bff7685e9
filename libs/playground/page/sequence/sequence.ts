import type { Deed, Place, RequestSteps, Step } from '../../src/live/step.ts';
import type { AnsweredContent, Owner, RequestTraffic, SentContent, StreamTraffic, Traffic } from '../phone/traffic.ts';

/** The vertical lines of the picture, from left to right. */
export const lanes = ['anna', 'api', 'mongodb', 'redis', 'worker', 'gateway', 'subscribers', 'ben'] as const;
export type Lane = (typeof lanes)[number];

/** Text of an arrow, as data. */
export type Saying =
  | Exclude<Deed, { readonly kind: 'request' }>
  | { readonly kind: 'request'; readonly method: string; readonly path: string }
  | { readonly kind: 'lost' | 'unsent' | 'portal' | 'kept' | 'stream_opened' }
  | { readonly kind: 'stream_closed'; readonly code: number; readonly reason: string }
  | { readonly kind: 'frame'; readonly frame: string; readonly isLost: boolean; readonly content: unknown };

/** One line of the picture. */
export interface Arrow {
  readonly id: string;
  readonly from: Lane;
  readonly to: Lane;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Undefined if the duration is not known. */
  readonly durationMs: number | undefined;
  readonly saying: Saying;
  /** True if a service has reported it, false if a phone has seen it. */
  readonly isReported: boolean;
}

/** Everything that one request has caused. */
export interface Chapter {
  readonly requestId: string;
  /** Undefined if neither phone sent it, for example if it came from a terminal. */
  readonly owner: Owner | undefined;
  readonly arrows: readonly Arrow[];
  /** Undefined if the request was not sent from this page. */
  readonly sent?: SentContent;
  /** The service's answer, even if the phone did not get it. */
  readonly answered?: AnsweredContent;
}

/** The picture: its chapters in the order in which they began. */
export type Sequence = readonly Chapter[];

const chaptersKept = 60;

/** Adds the traffic that a phone has seen. */
export function withTraffic(sequence: Sequence, traffic: Traffic): Sequence {
  return 'requestId' in traffic ? withRequest(sequence, traffic) : withStream(sequence, traffic);
}

function withRequest(sequence: Sequence, traffic: RequestTraffic): Sequence {
  const { requestId, owner, at } = traffic;
  const place = owner ?? 'api';
  switch (traffic.type) {
    case 'sent': {
      const arrow = arrowOf(`${requestId}-sent`, place, 'api', at, { ...traffic, kind: 'request' });
      return add(sequence, { requestId, owner, sent: traffic, arrows: [arrow] });
    }
    case 'unsent': {
      const arrow = arrowOf(`${requestId}-unsent-${at}`, place, place, at, { kind: unsentKind(traffic) });
      return add(sequence, { requestId, owner, arrows: [arrow] });
    }
    case 'lost': {
      const arrow = arrowOf(`${requestId}-lost`, 'api', place, at, { kind: 'lost' });
      return add(sequence, { requestId, owner, answered: traffic, arrows: [arrow] });
    }
    default:
      return add(sequence, { requestId, owner, answered: traffic, arrows: [] });
  }
}

/**
 * Returns the kind of a request that was not sent. Only a logout is certain to be sent later, even if the app is
 * restarted.
 */
function unsentKind({ because, path }: Extract<RequestTraffic, { readonly type: 'unsent' }>) {
  if (because === 'portal') return 'portal';
  return path.endsWith('/logout') ? 'kept' : 'unsent';
}

/**
 * Returns the reason why the session has ended, if the answer to a phone's refresh states it. This 401 is not a
 * failure, because an app whose stream was closed refreshes to learn the reason.
 */
export function endReasonIn({ owner, sent, answered }: Chapter): string | undefined {
  if (owner === undefined || answered?.status !== 401 || !sent?.path.endsWith('/auth/refresh')) return undefined;
  const body = answered.body as { readonly details?: { readonly reason?: string } } | undefined;
  return body?.details?.reason;
}

/** Adds a line of a stream. Such lines have no request, so consecutive ones form one chapter. */
function withStream(sequence: Sequence, traffic: StreamTraffic): Sequence {
  const { owner, at } = traffic;
  const last = sequence.at(-1);
  const id = `stream-${owner}-`;
  const chapter = last?.requestId.startsWith(id) ? last.requestId : `${id}${at}`;
  const arrow = arrowOf(`${chapter}-${last?.arrows.length ?? 0}-${at}`, 'gateway', owner, at, sayingOf(traffic));
  const isFromPhone = traffic.type === 'stream_opened' || (traffic.type === 'frame' && traffic.isFromPhone);
  return add(sequence, {
    ...{ requestId: chapter, owner },
    arrows: [isFromPhone ? { ...arrow, from: owner, to: 'gateway' } : arrow],
  });
}

function sayingOf(traffic: StreamTraffic): Saying {
  if (traffic.type === 'stream_opened') return { kind: 'stream_opened' };
  if (traffic.type === 'frame') return { ...traffic, kind: 'frame' };
  return { kind: 'stream_closed', code: traffic.code, reason: traffic.reason };
}

function arrowOf(id: string, from: Lane, to: Lane, at: number, saying: Saying): Arrow {
  return { id, from, to, at, durationMs: undefined, saying, isReported: false };
}

/** Replaces the services' earlier reports on a request with the new ones. */
export function withSteps(sequence: Sequence, { requestId, steps }: RequestSteps): Sequence {
  const chapter = sequence.find((each) => each.requestId === requestId);
  if (chapter === undefined)
    return add(sequence, { requestId, owner: undefined, arrows: steps.map((step) => arrowOfStep(step, undefined)) });
  const { owner } = chapter;
  const answer = steps.find(({ deed }) => deed.kind === 'answer');
  const ofPhone = chapter.arrows
    .filter(({ isReported }) => !isReported)
    // A lost answer comes after everything that the service did.
    .map((arrow) => (arrow.saying.kind === 'lost' && answer ? { ...arrow, at: answer.at } : arrow));
  const isLost = ofPhone.some(({ saying }) => saying.kind === 'lost');
  const reported = steps
    // The phone's own request is already drawn, and a lost answer is drawn the way the phone saw it.
    .filter(({ deed }) => !(deed.kind === 'request' && chapter.sent) && !(deed.kind === 'answer' && isLost))
    .map((step) => arrowOfStep(step, owner));
  return sequence.map((each) => (each === chapter ? { ...each, arrows: sorted([...ofPhone, ...reported]) } : each));
}

function arrowOfStep(step: Step, owner: Owner | undefined): Arrow {
  const { id, deed, at, durationMs } = step;
  const saying: Saying = deed.kind === 'request' ? { kind: 'request', method: deed.method, path: deed.route } : deed;
  return { id, ...endsOf(step, owner), at, durationMs, saying, isReported: true };
}

function endsOf({ from, to }: Step, owner: Owner | undefined): { from: Lane; to: Lane } {
  const laneOf = (place: Place): Lane => (place === 'phone' ? (owner ?? 'api') : place);
  return { from: laneOf(from), to: laneOf(to) };
}

const sorted = (arrows: readonly Arrow[]) => arrows.toSorted((one, other) => one.at - other.at);

function add(sequence: Sequence, part: Chapter): Sequence {
  const known = sequence.find(({ requestId }) => requestId === part.requestId);
  if (known === undefined) return [...sequence, part].slice(-chaptersKept);
  const fresh = part.arrows.filter(({ id }) => known.arrows.every((arrow) => arrow.id !== id));
  const whole = { ...known, ...part, owner: known.owner ?? part.owner, arrows: sorted([...known.arrows, ...fresh]) };
  return sequence.map((chapter) => (chapter === known ? whole : chapter));
}
