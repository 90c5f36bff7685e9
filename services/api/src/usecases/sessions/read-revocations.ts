import type { RevocationsRequest } from '@auth-account/contracts/http/revocations';
import { DenyListUnavailable } from '@auth-account/messaging/deny-list';
import type { DenialCursor, Denied, DeniedPage, ReadDenialPage } from '@auth-account/redis/denial-pages';
import type { StatedRevocations } from '@auth-account/tokens';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { InternalService } from '../../security/internal-service-secrets.ts';

/** Content of an answer: no denials since the cursor, all of them, one page of them, or an error (429, 500, 503). */
export type FeedContent = 'nothing' | 'news' | 'page' | 'refused';

export interface ReadRevocationsDeps {
  readonly readDenialPage: ReadDenialPage;
  readonly signStatement: (internalService: string, statement: StatedRevocations) => string;
  readonly limits: Pick<Limits, 'readRevocations' | 'revocationsSent'>;
  readonly onRevocationsRead: (internalService: InternalService, content: FeedContent) => void;
}

/**
 * Gives an internal service the denials since its cursor, in a statement that is signed for this one question. Rejects
 * with `DenyListUnavailable` if the list may be incomplete.
 */
export function createReadRevocations({
  readDenialPage,
  signStatement,
  limits,
  onRevocationsRead,
}: ReadRevocationsDeps) {
  async function answer(body: RevocationsRequest, internalService: InternalService, origin: RequestOrigin) {
    await limits.readRevocations(internalService.name, origin);
    const page = await readDenialPage(parseCursor(body.cursor)).catch((error: unknown) => {
      throw new DenyListUnavailable('Redis did not answer', { cause: error });
    });
    if (page === undefined) throw new DenyListUnavailable('the deny list is not complete');
    await limits.revocationsSent(internalService.name, page.denied.length);
    const { nonce, cursor: since = '' } = body;
    const statement = {
      nonce,
      since,
      cursor: printCursor(page.cursor),
      more: page.hasMore,
      ...groupDenied(page.denied),
    };
    return { content: contentOf(page), statement: signStatement(internalService.name, statement) };
  }

  return async (body: RevocationsRequest, internalService: InternalService, origin: RequestOrigin) => {
    try {
      const { content, statement } = await answer(body, internalService, origin);
      onRevocationsRead(internalService, content);
      return { statement };
    } catch (error) {
      // A refused read shows too that the secret is in use.
      onRevocationsRead(internalService, 'refused');
      throw error;
    }
  };
}

function contentOf({ denied, hasMore }: DeniedPage): FeedContent {
  if (hasMore) return 'page';
  return denied.length > 0 ? 'news' : 'nothing';
}

function groupDenied(denied: readonly Denied[]): Pick<StatedRevocations, 'revoked' | 'below'> {
  const [revoked, below]: [string[], Record<string, number>] = [[], {}];
  for (const { sessionId, below: ver } of denied) {
    if (ver === Number.POSITIVE_INFINITY) revoked.push(sessionId);
    else if (Number.isSafeInteger(ver)) below[sessionId] = ver;
    else throw new Error(`the deny list has no version of the session ${sessionId}`);
  }
  return { revoked, below };
}

function printCursor({ server, since }: DenialCursor): string {
  return `${since}.${server}`;
}

/** Reads a cursor. If the text is not a cursor of this service, everything is read, as it is without a cursor. */
function parseCursor(text: string | undefined): DenialCursor | undefined {
  const [, since, server] = /^(\d{1,15})\.([\w:]+)$/.exec(text ?? '') ?? [];
  return since === undefined || server === undefined ? undefined : { since: Number(since), server };
}
