import { readTokenHead } from '../access-token/access-token-form.ts';
import { isSignedBy } from '../access-token/is-signed-by.ts';
import type { FindKey } from '../access-token/key-finder.ts';

/**
 * `typ` of a statement (RFC 8725 section 3.11). Because of it, a statement is not accepted as an access token, and an
 * access token is not accepted as a statement.
 */
export const statementType = 'revocations+jwt';

/**
 * Returns the `aud` of statements for an internal service. No access token has it, because it contains a colon and no
 * service's name does.
 */
export function statementAudience(internalService: string): string {
  return `revocations:${internalService}`;
}

/** Claims about the service's deny list, in a signed answer to one question of one service. */
export interface RevocationStatement {
  readonly iss: string;
  readonly aud: string;
  /** Seconds since the epoch, for people only. The nonce proves that the statement is new. */
  readonly iat: number;
  /** Nonce of the question. */
  readonly nonce: string;
  /** Cursor of the question, or empty if it had none. */
  readonly since: string;
  /** Cursor of the next question. */
  readonly cursor: string;
  /** True if there is more to read now. */
  readonly more: boolean;
  /** Sessions whose tokens are all refused. */
  readonly revoked: readonly string[];
  /** Session → smallest `ver` that is still valid. */
  readonly below: Readonly<Record<string, number>>;
}

/** The question that a statement must answer. */
export type StatementQuestion = Pick<RevocationStatement, 'iss' | 'aud' | 'nonce' | 'since'>;

/**
 * Limit for a statement, in bytes. It is enough for some 300,000 denials at once. A page usually has 5,000, which are
 * about 260 KiB.
 */
export const maxStatement = 16 * 2 ** 20;

/**
 * Reads a statement that answers exactly this question. It must be signed by a key of the issuer, for this service,
 * with the question's nonce and cursor. For any other text it throws an error that names the fault.
 */
export async function readStatement(
  text: string,
  question: StatementQuestion,
  findKey: FindKey,
): Promise<RevocationStatement> {
  const head = text.length <= maxStatement ? readTokenHead(text, statementType) : undefined;
  if (head === undefined) throw new Error('it is no statement about revocations');
  const key = await findKey(head);
  if (key === undefined || !isSignedBy(key, text)) throw new Error('no key of the issuer has signed it');
  const payload = head.readPayload();
  if (payload === undefined) throw new Error('its claims are not in the form that the issuer writes');
  for (const member of ['iss', 'aud', 'nonce', 'since'] as const) {
    if (payload[member] !== question[member]) throw new Error(`it answers another question: ${member} differs`);
  }
  if (!isStatement(payload)) throw new Error('a member is missing or wrong');
  // Otherwise the same cursor would be read again without end.
  if (payload.more && payload.cursor === question.since) throw new Error('it leads nowhere');
  return payload;
}

function isStatement(payload: object): payload is RevocationStatement {
  const { cursor, more, revoked, below } = payload as Partial<Record<keyof RevocationStatement, unknown>>;
  return (
    typeof cursor === 'string' &&
    cursor.length > 0 &&
    typeof more === 'boolean' &&
    Array.isArray(revoked) &&
    revoked.every((sessionId) => typeof sessionId === 'string') &&
    typeof below === 'object' &&
    below !== null &&
    !Array.isArray(below) &&
    Object.values(below).every((ver) => Number.isSafeInteger(ver))
  );
}
