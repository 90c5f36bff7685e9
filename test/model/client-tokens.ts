import type { Sent } from './client-network.ts';

/** Knows the session of each token that the api has handed out in a course. */
export interface KnownTokens {
  readonly sessions: ReadonlySet<string>;
  sessionOf(sent: Sent): string | undefined;
  /** Returns a short name of the request's token, for a failure's message. */
  nameOf(sent: Sent): string;
  learn(pair: { readonly access_token: string; readonly refresh_token: string; readonly session_id: string }): void;
}

export function createTokens(): KnownTokens {
  const sessionOf = new Map<string, string>();
  const sessions = new Set<string>();
  const names = new Map<string, string>();
  const refreshOf = ({ body }: Sent) => /"refresh_token":"([^"]+)"/.exec(body)?.[1];
  const textOf = (sent: Sent) => refreshOf(sent) ?? sent.headers.get('Authorization')?.replace('Bearer ', '') ?? '';
  return {
    sessions,
    sessionOf: (sent) => sessionOf.get(textOf(sent)),
    nameOf: (sent) => names.get(textOf(sent)) ?? '',
    learn({ access_token, refresh_token, session_id }) {
      sessions.add(session_id);
      for (const [kind, token] of Object.entries({ A: access_token, R: refresh_token })) {
        sessionOf.set(token, session_id);
        names.set(token, names.get(token) ?? `${kind}${names.size} of ${session_id.slice(-4)}`);
      }
    },
  };
}
