import { asyncApiDocument } from '@auth-account/contracts/asyncapi';
import { errorReactions } from './documented-errors.ts';

/** Text of the AsyncAPI document of the push streams, which `/asyncapi.json` serves and docs/asyncapi.json holds. */
export function streamDocument(): string {
  return `${JSON.stringify(asyncApiDocument(errorReactions()), null, 2)}\n`;
}
