import { randomBytes, randomUUID } from 'node:crypto';
import { fetchDocument } from '../issuer/fetch-document.ts';
import type { OpenRevocationSource, SourceContext } from './revocation-source.ts';
import { maxStatement, type RevocationStatement, readStatement, statementAudience } from './statement.ts';

export interface FeedRevocationsOptions {
  /**
   * Credential of this service, in the form `name.secret` or `name.number.secret`. It is a text, or a function that is
   * called for each question, so that a mounted file may change.
   */
  readonly credential: string | (() => string | Promise<string>);
}

/** Path of the feed at the issuer. */
const feedPath = '/api/v1/revocations';

/** Time for a question and its answer, in milliseconds. It is enough for a page of a first reading too. */
const timeoutMs = 3_000;

/** Bytes for the part of an answer that is not the statement. */
const envelopeBytes = 1_024;

const credentialPattern = /^(?<name>[a-z0-9][a-z0-9-]{0,31})(?:\.[A-Za-z0-9-]{1,32})?\.[A-Za-z0-9_-]{43,}$/;

/**
 * Creates a source that reads the denials from the service's feed over HTTP, for internal services that cannot reach
 * Redis. Each answer is signed for one question, so an attacker on the network can delay it, but cannot alter, shorten
 * or repeat it.
 *
 * @example
 * const revocations = feedRevocations({ credential: () => readFile('/run/secrets/revocation-feed', 'utf8') });
 */
export function feedRevocations({ credential }: FeedRevocationsOptions): OpenRevocationSource {
  return (context) => ({
    async read(cursor) {
      const text = typeof credential === 'string' ? credential : await credential();
      const statement = await ask(context, text.trim(), (cursor as string | undefined) ?? '');
      return { denied: deniedBy(statement), cursor: statement.cursor, hasMore: statement.more };
    },
    close: () => undefined,
  });
}

async function ask(context: SourceContext, credential: string, since: string): Promise<RevocationStatement> {
  const name = credentialPattern.exec(credential)?.groups?.name;
  if (name === undefined) throw new Error('the credential of the feed is not of the form name.secret');
  const { issuer, address, fetch } = context;
  const findKey = await context.issuerKeys();
  const nonce = randomBytes(16).toString('base64url');
  const url = address + feedPath;
  const answer = await fetchDocument(url, {
    fetch,
    timeoutMs,
    maximumBytes: maxStatement + envelopeBytes,
    body: since === '' ? { nonce } : { nonce, cursor: since },
    headers: { Authorization: `Bearer ${credential}`, 'X-Request-ID': randomUUID() },
  });
  try {
    const question = { iss: issuer, aud: statementAudience(name), nonce, since };
    return await readStatement(statementIn(answer), question, findKey);
  } catch (error) {
    throw new Error(`${url}: ${(error as Error).message}`, { cause: error });
  }
}

function statementIn(answer: string): string {
  const { data } = (JSON.parse(answer) ?? {}) as { readonly data?: { readonly statement?: unknown } };
  if (typeof data?.statement !== 'string') throw new Error('it has no statement');
  return data.statement;
}

function deniedBy({ revoked, below }: RevocationStatement) {
  return [
    ...revoked.map((sessionId) => ({ sessionId, below: Number.POSITIVE_INFINITY })),
    ...Object.entries(below).map(([sessionId, ver]) => ({ sessionId, below: ver })),
  ];
}
