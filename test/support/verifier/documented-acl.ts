import { readFileSync } from 'node:fs';

/** The Redis user that a page of the documentation creates for an internal service, if `KEY_PREFIX` is `auth`. */
export interface DocumentedAcl {
  /** Name of the user in the page's line. */
  readonly user: string;
  /** Returns the arguments that follow the user's name in `ACL SETUSER`, with this password filled in. */
  rightsFor(password: string): string[];
  /** Rights that the page adds on a Redis Cluster. */
  readonly clusterRights: readonly string[];
}

/** Reads the only line with `ACL SETUSER` from a page of docs/, so that a test uses exactly the documented rights. */
export function readDocumentedAcl(page: string): DocumentedAcl {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');
  const [line, ...others] = text.match(/^ACL SETUSER .+$/gm) ?? [];
  if (line === undefined || others.length > 0) throw new Error(`docs/${page} must have one line of ACL SETUSER`);
  const [, , user = '', ...rights] = line.split(' ');
  if (!rights.includes('><password>')) throw new Error(`docs/${page}: the user has no password`);
  const [, more] = /on a Redis Cluster (?:also |add )?`(\+[^`]+)`/i.exec(text) ?? [];
  if (more === undefined) throw new Error(`docs/${page} names no rights for a Redis Cluster`);
  return {
    user,
    clusterRights: more.split(' '),
    rightsFor: (password) => rights.map((right) => right.replace('<password>', password)),
  };
}
