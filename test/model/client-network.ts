import { type Answer, begin, send } from '../support/http-client.ts';
import { type Life, type Notify, never, running } from './client-device.ts';
import type { VirtualTime } from './client-time.ts';

/** Fate of one request. */
export interface NetworkFate {
  readonly kind:
    | 'passes'
    | 'request_lost'
    | 'answer_lost'
    /** The head of the answer comes, but its body breaks off. */
    | 'cut'
    /** A proxy sends the request again after `downMs`, if its sender still waits, and returns the second answer. */
    | 'doubled'
    /** The same, but the proxy returns the first answer. */
    | 'echoed'
    | 'captive_portal'
    | 'captive_portal_401'
    | 'unavailable'
    | 'throttled'
    | 'hangs';
  /** Virtual milliseconds that a request needs to the server. */
  readonly upMs: number;
  /** Virtual milliseconds that the answer needs to the client. */
  readonly downMs: number;
  /** Fate of a request that is aborted on its way: it is lost, or arrives just before the connection ends. */
  readonly givenUp: 'lost' | 'arrives';
}

/** A request as the client sends it. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

export interface Network {
  readonly fates: NetworkFate[];
  /** Number of next requests to an internal service that get the answer `IAD_JWT_ACCESS_INVALID`. */
  refusals: number;
  isOn: boolean;
  fetchOf(life: Life, observer: Observer): (url: string, init?: RequestInit) => Promise<Response>;
}

/** Receives each request that the client sends, and each answer of the api. */
export interface Observer {
  onSent(sent: Sent): () => void;
  onHandshake(url: string, token: string): void;
  /** `isTwin`: the answer is to a request that a proxy sent again. */
  onAnswer(sent: Sent, answer: Answer, isTwin: boolean): void;
}

/** Returns true if the request opens a session. */
export const isLogin = ({ path }: Sent) => /\/(login|federated\/office)$/.test(path);

export const serviceUrl = 'https://inventory.example.com';
const passing: NetworkFate = { kind: 'passes', upMs: 0, downMs: 0, givenUp: 'lost' };
const lostError = () => new TypeError('network request failed');
/** Answers of a captive portal, and of a proxy in front of the service. */
const foreign: Partial<Record<NetworkFate['kind'], readonly [status: number, text: string, retryAfter?: string]>> = {
  captive_portal: [200, '<html>Log in to the hotel</html>'],
  captive_portal_401: [401, '<html>Log in to the hotel</html>'],
  unavailable: [503, '{"status":"error"}', '2'],
  throttled: [429, '{}', '3'],
};

export interface NetworkOptions {
  readonly time: VirtualTime;
  /** The api's time when the virtual clock began, in milliseconds since 1970. */
  readonly epoch: number;
  readonly base: string;
  readonly notify: Notify;
}

/** Creates the network. `settle` waits for the consequences of an answer of the api. */
export function createNetwork({ time, epoch, base, notify }: NetworkOptions, settle?: () => Promise<void>): Network {
  // Requests reach the api one at a time, so that a seed repeats its course.
  let last: Promise<unknown> = Promise.resolve();
  const deliver = (sent: Sent, isHungUp = false): Promise<Answer> => {
    const answer = last.then(async () => {
      const received = await (isHungUp ? sendAndHangUp(base, sent) : sendTo(base, sent));
      await settle?.();
      // Node's own header has the real time.
      const date = new Date(epoch + time.now()).toUTCString();
      return { ...received, headers: { ...received.headers, date } };
    });
    last = answer.catch(() => undefined);
    return time.busy(() => answer);
  };
  const network: Network = {
    fates: [],
    refusals: 0,
    isOn: true,
    fetchOf:
      (life, observer) =>
      (url, init = {}) => {
        if (life.isOver) return never();
        const sent = sentOf(url, init);
        const end = observer.onSent(sent);
        notify();
        if (life.isOver) return never();
        const signal = init.signal ?? new AbortController().signal;
        const journey = createJourney(life, signal, time);
        const trip = async () => {
          if (!network.isOn) throw lostError();
          if (url.startsWith(serviceUrl)) return answerOfService(network);
          const fate = network.fates.shift() ?? passing;
          return travel({ fate, sent, journey, deliver, observer, time });
        };
        const settled = journey.race(trip()).finally(end);
        return settled.then(
          async (response) => {
            notify();
            if (life.frozen) await running(life);
            return life.isOver ? never() : response;
          },
          async (error) => {
            notify();
            if (life.frozen) await running(life);
            if (life.isOver) return never();
            throw error;
          },
        );
      },
  };
  return network;
}

interface Trip {
  readonly fate: NetworkFate;
  readonly sent: Sent;
  readonly journey: Journey;
  readonly deliver: (sent: Sent, isHungUp?: boolean) => Promise<Answer>;
  readonly observer: Observer;
  readonly time: VirtualTime;
}

async function travel({ fate, sent, journey, deliver, observer, time }: Trip): Promise<Response> {
  const wait = (ms: number) => (ms === 0 ? Promise.resolve() : new Promise<void>((done) => time.after(ms, done)));
  const arrive = async (isTwin = false) => {
    const answer = await deliver(sent, journey.isGivenUp());
    observer.onAnswer(sent, answer, isTwin);
    return answer;
  };
  await wait(fate.upMs);
  if (journey.isGivenUp() && (fate.givenUp === 'lost' || isLogin(sent))) throw lostError();
  if (fate.kind === 'hangs') return never();
  if (fate.kind === 'request_lost') throw lostError();
  const other = foreign[fate.kind];
  if (other) return responseOf(...other);
  let answer = await arrive();
  if ((fate.kind === 'doubled' || fate.kind === 'echoed') && !journey.isGivenUp()) {
    await wait(fate.downMs);
    const twin = journey.isGivenUp() ? answer : await arrive(true);
    if (fate.kind === 'doubled') answer = twin;
  }
  await wait(fate.downMs);
  if (fate.kind === 'answer_lost') throw lostError();
  return responseOf(
    answer.status,
    fate.kind === 'cut' ? undefined : answer.text,
    answer.headers['retry-after'],
    answer.headers.date,
  );
}

interface Journey {
  isGivenUp(): boolean;
  race(trip: Promise<Response>): Promise<Response>;
}

/** Tracks a request on its way. The request ends early if the client aborts it, or if the app ends. */
function createJourney(life: Life, signal: AbortSignal, time: VirtualTime): Journey {
  let isGone = signal.aborted;
  const gone = new Promise<never>((_, reject) => {
    const leave = () => {
      isGone = true;
      reject(new DOMException('aborted', 'AbortError'));
    };
    life.endings.add(() => {
      isGone = true;
    });
    if (isGone) leave();
    signal.addEventListener('abort', leave);
  });
  return {
    isGivenUp: () => isGone,
    race: (trip) => {
      // `busy` holds the clock, so that the answer reaches its client before time goes on.
      const settled = trip.finally(() => time.busy(async () => undefined));
      return Promise.race([settled, gone]);
    },
  };
}

function answerOfService(network: Network): Response {
  if (network.refusals === 0) return responseOf(200, '{"status":"success","data":{}}');
  network.refusals -= 1;
  const body = { status: 'error', error_code: 'IAD_JWT_ACCESS_INVALID', message: 'refused', details: {} };
  return responseOf(401, JSON.stringify(body));
}

/** Returns a response with the parts that the client uses. Without a text, its body breaks off. */
function responseOf(status: number, text: string | undefined, retryAfter?: string, date?: string): Response {
  const response = {
    status,
    ok: status >= 200 && status < 300,
    headers: new Headers({ ...(retryAfter && { 'Retry-After': retryAfter }), ...(date && { Date: date }) }),
    text: async () => {
      if (text === undefined) throw lostError();
      return text;
    },
    clone: () => response,
  };
  return response as unknown as Response;
}

function sentOf(url: string, init: RequestInit): Sent {
  const { pathname: path } = new URL(url);
  return { url, path, method: init.method ?? 'GET', headers: new Headers(init.headers), body: String(init.body ?? '') };
}

function sendTo(base: string, { method, path, headers, body }: Sent): Promise<Answer> {
  return send(base, { method, path, headers: Object.fromEntries(headers), ...(body === '' ? {} : { body }) });
}

/** Sends a request, and ends the connection right after it. */
async function sendAndHangUp(base: string, { method, path, headers, body }: Sent): Promise<Answer> {
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  return new Promise((resolve) => {
    const nobody = { status: 0, headers: {}, text: '', json: undefined };
    const request = begin(base, { method, path, headers: { ...Object.fromEntries(headers), ...length } });
    request.on('error', () => undefined);
    // Waits until the api has handled the request. No course depends on this delay.
    request.on('close', () => setTimeout(resolve, 30, nobody));
    request.on('finish', () => request.destroy());
    request.end(body);
  });
}
