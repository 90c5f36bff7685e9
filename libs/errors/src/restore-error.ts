import { AppError, type AppErrorOptions } from './app-error.ts';
import { isCatalogueCode, isThrowableCode, rowOf, type ThrowableCode } from './catalogue.ts';
import { readDetails } from './read-details.ts';

/** An error as a peer described it; all of it is untrusted. */
export interface ReceivedError {
  code: unknown;
  details: unknown;
  canonical: unknown;
  status: number | undefined;
  retryAfterSeconds: number | undefined;
  cause: unknown;
}

/** Returns the AppError that a peer sent, or undefined if its code is unknown or its details do not fit the row. */
export function restoreError(received: ReceivedError): AppError | undefined {
  const { code, canonical, status, retryAfterSeconds, cause } = received;
  if (!isThrowableCode(code)) return undefined;
  const details = readDetails(code, received.details);
  if (details === undefined) return undefined;
  const options = {
    details,
    canonical: isCatalogueCode(canonical) ? canonical : undefined,
    status: allows(code, status) ? status : undefined,
    retryAfterSeconds,
    cause,
  };
  // `readDetails` and `allows` have checked at run time what the types would normally check.
  return new AppError<ThrowableCode>(code, options as AppErrorOptions<ThrowableCode>);
}

function allows(code: ThrowableCode, status: number | undefined): boolean {
  const { http, httpAlternatives = [] } = rowOf(code);
  return [http, ...httpAlternatives].some((allowed) => allowed === status);
}
