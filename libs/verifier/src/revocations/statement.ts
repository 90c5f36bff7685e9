import { readTokenHead } from '../access-token/access-token-form.ts';
import type { AccessTokenAlgorithm } from '../access-token/index.ts';
import { isSignedBy } from '../access-token/is-signed-by.ts';
import type { FindKey } from '../access-token/key-finder.ts';

/** `typ` of a statement (RFC 8725 section 3.11): it is no access token, and no access token is a statement. */
export const statementType = 'revocations+jwt';

/** Returns the `aud` of what is stated to a sibling. No access token has it: the colon is in no sibling's name. */
export function statementAudience(sibling: string): string {
  return `revocations:${sibling}`;
}

/** Claims of the service about its deny list, in a signed answer to one question of one sibling. */
export interface RevocationStatement {
  readonly iss: string;
  readonly aud: string;
  /** Seconds since the epoch, for people: the nonce says how fresh the statement is. */
  readonly iat: number;
  /** That of the question. */
  readonly nonce: string;
  /** Cursor of the question; empty if it had none. */
  readonly since: string;
  /** Cursor of the next question. */
  readonly cursor: string;
  /** True if there is more to read at once. */
  readonly more: boolean;
  /** Sessions whose tokens are all refused. */
  readonly revoked: readonly string[];
  /** Session → smallest `ver` that is still good. */
  readonly below: Readonly<Record<string, number>>;
}

/** The question that a statement must answer. */
export type StatementQuestion = Pick<RevocationStatement, 'iss' | 'aud' | 'nonce' | 'since'>;

/** Longest statement that is read: some 300,000 denials of one moment. A page has 5,000 as a rule, about 260 KiB. */
export const longestStatement = 16 * 2 ** 20;

/**
 * Reads a statement that answers this very question: signed by a key of the issuer, for this sibling, with its nonce
 * and its cursor. Throws for any other text, and names the fault.
 */
export async function readStatement(
  text: string,
  question: StatementQuestion,
  { algorithm, findKey }: { readonly algorithm: AccessTokenAlgorithm; readonly findKey: FindKey },
): Promise<RevocationStatement> {
  const head = text.length <= longestStatement ? readTokenHead(text, algorithm, statementType) : undefined;
  if (head === undefined) throw new Error('it is no statement about revocations');
  const key = await findKey(head.kid);
  if (key === undefined || !isSignedBy(key, text, algorithm)) throw new Error('no key of the issuer has signed it');
  const payload = head.readPayload();
  if (payload === undefined) throw new Error('its claims are not in the form that the issuer writes');
  for (const member of ['iss', 'aud', 'nonce', 'since'] as const) {
    if (payload[member] !== question[member]) throw new Error(`it answers another question: ${member} differs`);
  }
  if (!isStatement(payload)) throw new Error('a member is missing or wrong');
  // The same place again would be read without end.
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
