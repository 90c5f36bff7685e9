import { InvalidArgumentError } from '@commander-js/extra-typings';

/** How many rows are shown at most. */
export function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 to 999999.');
  return Number(text);
}
