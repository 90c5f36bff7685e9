import type { AuthClient, AuthClientOptions } from '../create-auth-client.ts';
import type { AuthEvent } from '../events.ts';
import type { LogEntry, Platform } from '../platform/platform.ts';

/** Writes a line, for example `console.log`. */
export type WriteLine = (line: string) => void;

/**
 * Returns the options with a `fetch` and a `log` that also write a line for each request and each entry. No line
 * contains a body, a header, a query, or a part of a path that may be an invite's token.
 */
export function withDebug<T extends Partial<AuthClientOptions>>(
  options: T,
  write: WriteLine,
): T & Pick<Platform, 'fetch' | 'log'> {
  const send = options.fetch ?? ((url: string, init?: RequestInit) => globalThis.fetch(url, init));
  const fetch: Platform['fetch'] = async (url, init) => {
    const begun = Date.now();
    const notify = (outcome: unknown) =>
      write(`auth: ${init?.method ?? 'GET'} ${withoutSecrets(url)} ${outcome} ${Date.now() - begun} ms`);
    try {
      const response = await send(url, init);
      notify(response.status);
      return response;
    } catch (error) {
      // The error's text may contain the URL.
      notify(error instanceof Error ? error.name : 'failed');
      throw error;
    }
  };
  const log = (entry: LogEntry) => {
    const { at: _at, event, ...facts } = entry;
    write(`auth: ${event} ${JSON.stringify(facts)}`);
    options.log?.(entry);
  };
  return { ...options, fetch, log };
}

/** Writes a line for each event of the client. Returns the function that stops it. */
export function debugEvents(client: Pick<AuthClient, 'subscribe'>, write: WriteLine): () => void {
  return client.subscribe((event) => write(`auth: ${event.type} ${aboutOf(event)}`.trimEnd()));
}

function aboutOf(event: AuthEvent): string {
  switch (event.type) {
    case 'state':
      return event.state.status;
    case 'signed_out':
    case 'stream_refused':
      return event.reason;
    case 'stream':
    case 'second_factor':
      return event.status;
    case 'message':
      return event.topic;
    default:
      return '';
  }
}

/** Returns the URL without user, query and fragment. Parts of the path that are not plain words become `…`. */
function withoutSecrets(url: string): string {
  const [, origin = '', path = ''] = /^(\w+:\/\/[^/?#]*)?([^?#]*)/.exec(url) ?? [];
  const words = path.split('/').map((part) => (/^(v\d+|[a-z-]{0,24})$/.test(part) ? part : '…'));
  return origin.replace(/\/\/.*@/, '//') + words.join('/');
}
