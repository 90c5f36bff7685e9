import type { Operation } from '../generated/operations.ts';
import { AuthError } from '../http/auth-error.ts';
import type { Exchange, Outgoing } from '../http/exchange.ts';
import { isTokenPair, type TokenPair } from './session-record.ts';

/**
 * Asks for a token pair. Raises the errors of the exchange, and `CLIENT_UNEXPECTED_ANSWER` for a success without a
 * token pair.
 */
export async function exchangeTokens(exchange: Exchange, operation: Operation, outgoing: Outgoing): Promise<TokenPair> {
  const data = await exchange<TokenPair>(operation, outgoing);
  if (!isTokenPair(data)) throw new AuthError('CLIENT_UNEXPECTED_ANSWER', { status: 200 });
  return data;
}
