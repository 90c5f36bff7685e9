import type { HttpRequest, HttpResponse, us_socket_context_t } from 'uWebSockets.js';
import { type AppError as AnyAppError, AppError, isAppError } from '@auth-account/errors';
import { closeReasonOf } from '@auth-account/messaging/deny-list';
import type { Logger } from '@auth-account/telemetry';
import { findExpiredClaims, findTokenFault, type VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { PushMetrics } from '../runtime/metrics.ts';
import type { Connection } from '../streams/connection.ts';
import type { ConnectionRegistry, PendingUpgrade } from '../streams/connection-registry.ts';
import type { SocketOpener } from '../streams/open-socket.ts';
import type { RedisAnswer } from './ask-redis.ts';
import type { AuditRefusal } from './audit-refusal.ts';
import { clientNetwork, type Handshake, readCredentials, readHandshake, sendError } from './handshake.ts';
import type { LimitHandshakes } from './limit-handshakes.ts';

export interface UpgradeDeps {
  readonly verifyAccessToken: (token: string) => Promise<VerifiedAccessToken>;
  readonly registry: Pick<ConnectionRegistry, 'hasRoom' | 'hasCapacity' | 'beginUpgrade' | 'endUpgrade'>;
  readonly askRedis: (sessionId: string) => Promise<RedisAnswer>;
  readonly isDraining: () => boolean;
  readonly openSocket: SocketOpener['open'];
  readonly allowedOrigins: readonly string[];
  readonly maxStreams: number;
  readonly maxStreamsPerGroup: number;
  /** Called in the same turn as the upgrade, with the socket open. */
  readonly onOpen: (connection: Connection, upgrade: PendingUpgrade) => void;
  readonly metrics: Pick<PushMetrics, 'refused' | 'aborted' | 'lost'>;
  readonly auditRefusal: AuditRefusal;
  readonly limitHandshakes: LimitHandshakes;
  /** Number of our own proxies in front. The same number of entries of `X-Forwarded-For` is trusted, from the right. */
  readonly trustedProxyHops: number;
  readonly logger: Logger;
}

/** A handshake under way. */
interface Exchange {
  readonly res: HttpResponse;
  readonly context: us_socket_context_t;
  readonly handshake: Handshake;
  /** Claims of a genuine token, which may still be refused. */
  bearer: VerifiedAccessToken | undefined;
  /** True if the client has left, or the response has been sent. The response must not be touched again. */
  isOver: boolean;
}

const originItem = { loc: ['header', 'Origin'], msg: 'Origin is not allowed', type: 'value_error' } as const;

/**
 * Handles `GET /ws/push-stream/:id`. To miss no denial, it first registers the upgrade and then reads the deny list. An
 * earlier denial is in the list. The close command of a later denial marks the registered upgrade.
 *
 * Answers 429 `ERR-RATE-LIMITED` past the network's limit before it looks at the token. Answers 503 `ERR-OVERLOADED`
 * while draining or past the gateway's limit, 401 `IAD_JWT_ACCESS_INVALID` or `IAD_JWT_ACCESS_EXPIRED`, 403
 * `ERR-STREAM-SESSION-MISMATCH`, 429 `ERR-RATE-LIMITED` past the group's limit, 422 `ERR-VALIDATION-FAILED` for a
 * foreign Origin, and 503 `ERR-DEPENDENCY-UNAVAILABLE` if the deny list doesn't answer.
 */
export function createUpgrade(deps: UpgradeDeps) {
  const { verifyAccessToken, registry, isDraining, metrics } = deps;

  function assertStaying(): void {
    if (isDraining()) throw new AppError('ERR-OVERLOADED');
  }

  function checkClaims(claims: VerifiedAccessToken, { sessionId, origin, host }: Handshake): void {
    if (claims.sid !== sessionId) throw new AppError('ERR-STREAM-SESSION-MISMATCH');
    if (!registry.hasRoom(sessionId, deps.maxStreams)) throw new AppError('ERR-OVERLOADED');
    if (!registry.hasCapacity(ownerOf(claims), deps.maxStreamsPerGroup)) throw new AppError('ERR-RATE-LIMITED');
    if (!isAllowedOrigin({ origin, host }, deps.allowedOrigins)) {
      throw new AppError('ERR-VALIDATION-FAILED', { details: [{ ...originItem, loc: [...originItem.loc] }] });
    }
  }

  async function upgrade(exchange: Exchange): Promise<void> {
    // RFC 6455 section 4.4 requires the version here; the contract has no code for 426.
    if (!exchange.handshake.isWebSocket)
      throw new AppError('ERR-ROUTE-NOT-FOUND', { headers: { 'Sec-WebSocket-Version': '13' } });
    assertStaying();
    const { requestId } = exchange.handshake;
    const network = clientNetwork(exchange.res, exchange.handshake, deps.trustedProxyHops);
    deps.limitHandshakes({ network, requestId });
    const { token, subprotocol } = readCredentials(exchange.handshake);
    const claims = await verifyAccessToken(token);
    exchange.bearer = claims;
    if (exchange.isOver) return;
    checkClaims(claims, exchange.handshake);
    const pending = registry.beginUpgrade(ownerOf(claims));
    try {
      const { denial, streamNumber } = await askRedis(deps, claims.sid);
      // These checks are the last. From here to the open socket nothing is awaited.
      if (exchange.isOver) return;
      assertStaying();
      if (pending.closedBy ?? closeReasonOf(denial, claims.ver)) throw new AppError('IAD_JWT_ACCESS_INVALID');
      const connection = createConnection(claims, streamNumber);
      exchange.isOver = true;
      const { res, context, handshake } = exchange;
      const { key } = handshake;
      if (deps.openSocket(connection, { res, context, key, subprotocol, requestId })) deps.onOpen(connection, pending);
      else metrics.lost.inc();
    } finally {
      registry.endUpgrade(pending);
    }
  }

  return (res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void => {
    const exchange: Exchange = { res, context, handshake: readHandshake(req), bearer: undefined, isOver: false };
    res.onAborted(() => {
      exchange.isOver = true;
      metrics.aborted.inc();
    });
    upgrade(exchange).catch((error: unknown) => {
      refuse(deps, exchange, isAppError(error) ? error : new AppError('ERR-INTERNAL', { cause: error }));
    });
  };
}

async function askRedis(deps: Pick<UpgradeDeps, 'askRedis'>, sessionId: string): Promise<RedisAnswer> {
  try {
    return await deps.askRedis(sessionId);
  } catch (error) {
    throw new AppError('ERR-DEPENDENCY-UNAVAILABLE', { cause: error });
  }
}

function refuse(
  { metrics, auditRefusal, trustedProxyHops, logger }: UpgradeDeps,
  { res, handshake, bearer, isOver }: Exchange,
  error: AnyAppError,
): void {
  if (isOver) return;
  const { code, status } = error;
  metrics.refused.inc({ code });
  const genuine = bearer ?? findExpiredClaims(error);
  const network = clientNetwork(res, handshake, trustedProxyHops);
  auditRefusal(error, {
    user_id: genuine?.user_id,
    session_id: genuine?.sid,
    handshake: { requestId: handshake.requestId, network },
  });
  sendError(res, error, handshake);
  const line = { request_id: handshake.requestId, code, status, fault: findTokenFault(error) };
  if (code === 'ERR-INTERNAL') logger.error({ ...line, err: error }, 'upgrade failed');
  else logger.info(line, 'upgrade refused');
}

/**
 * Returns true if a page of this origin may open a stream. Without a list, every origin may open a stream. A page of
 * the gateway's own host always may, and so may a client that sends no Origin, because it is no browser.
 */
function isAllowedOrigin({ origin, host }: Pick<Handshake, 'origin' | 'host'>, allowed: readonly string[]): boolean {
  if (allowed.length === 0 || origin === undefined || allowed.includes(origin)) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}

function ownerOf({ sid, home_group_id, ver }: VerifiedAccessToken) {
  return { sessionId: sid, groupId: home_group_id, ver };
}

function createConnection({ sid, home_group_id, ver, exp }: VerifiedAccessToken, streamNumber: number): Connection {
  return {
    sessionId: sid,
    groupId: home_group_id,
    streamNumber,
    ver,
    expiresAt: exp,
    socket: undefined,
    endedBy: undefined,
    isAuthenticating: false,
  };
}
