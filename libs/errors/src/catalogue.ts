import { aiOrchestration } from './catalogue/ai-orchestration.ts';
import { endpoints } from './catalogue/endpoints.ts';
import { identityAndAccess } from './catalogue/identity-and-access.ts';
import { inventory } from './catalogue/inventory.ts';
import { masterData } from './catalogue/master-data.ts';
import { monitoringAndAudit } from './catalogue/monitoring-and-audit.ts';
import { predictiveAnalytics } from './catalogue/predictive-analytics.ts';
import type { CatalogueRow } from './catalogue/row.ts';

/**
 * The table of error codes: the 35 rows of the six domains in the order of specified-rows.txt, then the
 * endpoint codes. Types, HTTP and gRPC answers, catalogue.json and docs/errors.md all come from it.
 */
export const catalogue = {
  ...identityAndAccess,
  ...masterData,
  ...inventory,
  ...aiOrchestration,
  ...predictiveAnalytics,
  ...monitoringAndAudit,
  ...endpoints,
} as const;

export type Catalogue = typeof catalogue;
export type ErrorCode = keyof Catalogue;
export type EndpointCode = keyof typeof endpoints;
/** The 35 canonical codes of the six domains. */
export type CatalogueCode = Exclude<ErrorCode, EndpointCode>;
/** Codes that accompany a success and are never thrown. */
export type NoticeCode = { [C in ErrorCode]: Catalogue[C]['kind'] extends 'notice' ? C : never }[ErrorCode];
export type ThrowableCode = Exclude<ErrorCode, NoticeCode>;

export const errorCodes = Object.keys(catalogue) as readonly ErrorCode[];
export const throwableCodes: readonly ThrowableCode[] = errorCodes.filter(isThrowableCode);

/** Returns the row of a code, in the type that all rows share. */
export function rowOf(code: ErrorCode): CatalogueRow {
  return catalogue[code];
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(catalogue, value);
}

/** Returns true if the value is one of the 35 canonical codes. */
export function isCatalogueCode(value: unknown): value is CatalogueCode {
  return isErrorCode(value) && rowOf(value).domain !== 'ENDPOINT';
}

/** Returns true if an AppError may have the code; false for notices. */
export function isThrowableCode(value: unknown): value is ThrowableCode {
  return isErrorCode(value) && rowOf(value).kind !== 'notice';
}
