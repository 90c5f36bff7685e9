/** The two phones. */
export type Owner = 'anna' | 'ben';

/** Traffic of a phone, as the phone sees it. Times are the machine's, in milliseconds since 1970. */
export type Traffic = { readonly owner: Owner; readonly at: number } & (
  | { readonly type: 'sent'; readonly requestId: string; readonly method: string; readonly path: string }
  | { readonly type: 'lost'; readonly requestId: string }
  | { readonly type: 'unsent'; readonly requestId: string; readonly method: string; readonly path: string }
  | { readonly type: 'stream_opened' }
  | { readonly type: 'stream_closed'; readonly code: number; readonly reason: string }
  | { readonly type: 'frame'; readonly frame: string; readonly isFromPhone: boolean }
);

export type OnTraffic = (traffic: Traffic) => void;
