import { inspect } from 'node:util';

const secretFields = ['email', 'password', 'refresh_token', 'access_token', 'invite_token'] as const;

/** The texts in an app's log and errors, and the secrets that they must never contain. */
export type Secrets = ReturnType<typeof createSecrets>;

export function createSecrets() {
  const secrets = new Set<string>();
  const said: string[] = [];
  return {
    add: (secret: string) => void secrets.add(secret),
    /** Records the tokens and other secrets of a request. */
    noteRequest({ headers, body }: RequestInit): void {
      const token = new Headers(headers).get('Authorization')?.replace('Bearer ', '');
      const fields = typeof body === 'string' ? JSON.parse(body) : {};
      for (const secret of [token, ...secretFields.map((field) => fields[field])]) if (secret) secrets.add(secret);
    },
    /** Records a line of the log, or an error. */
    hear: (what: unknown) => void said.push(inspect(what, { depth: 5, maxStringLength: null })),
    /** Returns the texts that contain a secret. */
    leaks: () => said.filter((text) => [...secrets].some((secret) => text.includes(secret))),
  };
}
