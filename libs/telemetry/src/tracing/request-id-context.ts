import { type Context, createContextKey } from '@opentelemetry/api';

const requestIdKey = createContextKey('auth-account.request-id');

/** The context of that request: every span begun in it bears the id, and every message sent from it carries it. */
export function setRequestId(context: Context, requestId: string): Context {
  return context.setValue(requestIdKey, requestId);
}

/** The `X-Request-ID` of the request that the context belongs to. */
export function findRequestId(context: Context): string | undefined {
  return context.getValue(requestIdKey) as string | undefined;
}
