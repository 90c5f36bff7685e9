import { type Route, routes } from '@auth-account/contracts';
import { isThrowableCode, rowOf, type ThrowableCode } from '@auth-account/errors';

/** Statuses of a request that may not have what it asks for. */
const statuses: readonly number[] = [401, 403];

/** Says whether the status refuses authorization. */
export const isAuthorizationStatus = (status: number): boolean => statuses.includes(status);

const guarded: readonly Route[] = Object.values<Route>(routes).filter(({ auth }) => auth !== 'none');

/** Every code by which a route that asks for authorization refuses it, in the order of the contract. */
export const authorizationCodes: readonly ThrowableCode[] = [
  ...new Set(guarded.flatMap(({ errors }) => errors).filter(isThrowableCode)),
].filter((code) => isAuthorizationStatus(rowOf(code).http));
