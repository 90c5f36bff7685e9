import type { Handshake } from './handshake.ts';

/**
 * Whether a page of this origin may open a stream. Without a list everything may; a client that sends no Origin is no
 * browser; the gateway's own host always passes.
 */
export function isAllowedOrigin(
  { origin, host }: Pick<Handshake, 'origin' | 'host'>,
  allowed: readonly string[],
): boolean {
  if (allowed.length === 0 || origin === undefined || allowed.includes(origin)) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}
