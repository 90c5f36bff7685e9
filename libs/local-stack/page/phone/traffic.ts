/** The two phones. */
export type Owner = 'anna' | 'ben';

/** Traffic as the phone sees it, or as somebody else who uses the page's address. Times are in milliseconds since 1970. */
export type Traffic = RequestTraffic | StreamTraffic;

/** The owner is undefined if the request is of neither phone. */
export type RequestTraffic = { readonly owner: Owner | undefined; readonly requestId: string; readonly at: number } & (
  | ({ readonly type: 'sent' } & SentContent)
  | ({ readonly type: 'answered' | 'lost' } & AnsweredContent)
  /** It did not come as far as the service. */
  | { readonly type: 'unsent'; readonly path: string; readonly because: 'offline' | 'portal' }
);

export type StreamTraffic = { readonly owner: Owner; readonly at: number } & (
  | { readonly type: 'stream_opened' }
  | { readonly type: 'stream_closed'; readonly code: number; readonly reason: string }
  | {
      readonly type: 'frame';
      readonly frame: string;
      readonly isFromPhone: boolean;
      /** True for a frame that is sent into a stream that was cut in silence. */
      readonly isLost: boolean;
      readonly content: unknown;
    }
);

/** Content of a request. Long strings, such as tokens, are shortened. */
export interface SentContent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface AnsweredContent {
  readonly status: number;
  readonly body: unknown;
}

export type OnTraffic = (traffic: Traffic) => void;

const longestText = 40;
const textKept = 20;

const shortened = (text: string) => (text.length > longestText ? `${text.slice(0, textKept)}…` : text);

/** Reads JSON as it is shown. Returns undefined for no text, and a text that is no JSON as a text. */
export function shownContent(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text, (_, value) => (typeof value === 'string' ? shortened(value) : value));
  } catch {
    return shortened(text);
  }
}

export function shownHeaders(headers: HeadersInit | undefined): Record<string, string> {
  return Object.fromEntries([...new Headers(headers)].map(([name, value]) => [name, shortened(value)]));
}
