export { AppError, type AppErrorOptions, isAppError } from './app-error.ts';
export type { CatalogueRow, Domain, GrpcStatus, Reaction, Retry, Severity } from './catalogue/row.ts';
export {
  type Catalogue,
  type CatalogueCode,
  catalogue,
  type EndpointCode,
  type ErrorCode,
  errorCodes,
  isCatalogueCode,
  isErrorCode,
  isThrowableCode,
  type NoticeCode,
  rowOf,
  type ThrowableCode,
} from './catalogue.ts';
export { decideWriteOff, type StockAccountType, type WriteOff, type WriteOffDecision } from './decide-write-off.ts';
export type { DetailsOf, StatusOf } from './error-details.ts';
export { fromHttp, type HttpFailure } from './from-http.ts';
export { type Locale, locales } from './locales.ts';
export { negotiateLocale } from './negotiate-locale.ts';
export { type Notice, notice } from './notice.ts';
export { type HttpError, type HttpErrorBody, toHttp } from './to-http.ts';
export { type ValidationItem, type ValidationType, validationTypes } from './validation-item.ts';
