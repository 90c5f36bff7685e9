import { readFileSync } from 'node:fs';

/** How a page of the documentation makes a Redis user. Its names are `KEY_PREFIX=auth` and a sibling's. */
export interface DocumentedAcl {
  /** The user in the page's line. */
  readonly user: string;
  /** The arguments of `ACL SETUSER` after the user, with this password. */
  rightsFor(password: string): string[];
  /** What the page adds to these on a Redis Cluster. */
  readonly clusterRights: readonly string[];
}

/** Finds the one line with `ACL SETUSER` in a page of docs/: what a test tries is what the page says. */
export function readDocumentedAcl(page: string): DocumentedAcl {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const [line, ...others] = text.match(/^ACL SETUSER .+$/gm) ?? [];
  if (line === undefined || others.length > 0) throw new Error(`docs/${page} must have one line of ACL SETUSER`);
  const [, , user = '', ...rights] = line.split(' ');
  if (!rights.includes('><password>')) throw new Error(`docs/${page}: the user has no password`);
  const [, more = ''] = /On a Redis Cluster also `([^`]+)`/.exec(text) ?? [];
  return {
    user,
    clusterRights: more.split(' '),
    rightsFor: (password) => rights.map((right) => right.replace('<password>', password)),
  };
}
