import { openApiDocument } from '@auth-account/contracts';
import { documentedErrors, errorReactions } from './documented-errors.ts';

/** Text of the OpenAPI document, which `/openapi.json` serves and docs/openapi.json holds. */
export function apiDocument(): string {
  return `${JSON.stringify(openApiDocument(documentedErrors(), errorReactions()), null, 2)}\n`;
}
