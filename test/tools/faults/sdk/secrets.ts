import { inspect } from 'node:util';

/** The texts in an app's log and errors, and the secrets that they must never contain. */
export interface Secrets {
  add(secret: string): void;
  /** Records the tokens and other secrets of a request. */
  noteRequest(init: RequestInit): void;
  /** Records a line of the log, or an error. */
  hear(said: unknown): void;
  /** Returns the texts that contain a secret. */
  leaks(): string[];
}

const secretFields = ['email', 'password', 'refresh_token', 'access_token', 'invite_token'] as const;

export function createSecrets(): Secrets {
  const secrets = new Set<string>();
  const said: string[] = [];
  return {
    add: (secret) => void secrets.add(secret),
    noteRequest({ headers, body }) {
      const token = new Headers(headers).get('Authorization')?.replace('Bearer ', '');
      const fields = typeof body === 'string' ? JSON.parse(body) : {};
      for (const secret of [token, ...secretFields.map((field) => fields[field])]) if (secret) secrets.add(secret);
    },
    hear: (what) => void said.push(inspect(what, { depth: 5, maxStringLength: null })),
    leaks: () => said.filter((text) => [...secrets].some((secret) => text.includes(secret))),
  };
}
