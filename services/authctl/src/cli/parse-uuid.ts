import { InvalidArgumentError } from '@commander-js/extra-typings';
import { validate } from 'uuid';

/** A UUID as it is stored: in lower case. */
export function parseUuid(text: string): string {
  if (!validate(text)) throw new InvalidArgumentError('It must be a UUID.');
  return text.toLowerCase();
}
