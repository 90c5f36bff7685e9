/** The two phones. */
export type Owner = 'anna' | 'ben';

/** Traffic that a phone, or another user of the page's IP address, has seen. Times are in milliseconds since 1970. */
export type Traffic = RequestTraffic | StreamTraffic;

/** A request. Its owner is undefined if neither phone sent it. */
export type RequestTraffic = { readonly owner: Owner | undefined; readonly requestId: string; readonly at: number } & (
  | ({ readonly type: 'sent' } & SentContent)
  | ({ readonly type: 'answered' | 'lost' } & AnsweredContent)
  /** A request that did not reach the service. */
  | { readonly type: 'unsent'; readonly path: string; readonly because: 'offline' | 'portal' }
);

export type StreamTraffic = { readonly owner: Owner; readonly at: number } & (
  | { readonly type: 'stream_opened' }
  | { readonly type: 'stream_closed'; readonly code: number; readonly reason: string }
  | {
      readonly type: 'frame';
      readonly frame: string;
      readonly isFromPhone: boolean;
      /** True for a frame that is sent into a silently cut stream. */
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

const maxText = 40;
const textKept = 20;

const shortened = (text: string) => (text.length > maxText ? `${text.slice(0, textKept)}…` : text);

/**
 * Reads JSON for display. Returns undefined for an empty text. Any other text that is not JSON is returned unchanged.
 */
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
