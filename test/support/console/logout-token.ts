import { randomUUID } from 'node:crypto';
import { type CryptoKey, SignJWT } from 'jose';
import { send } from '../http-client.ts';
import { consoleClient, type StaffProvider } from './staff-provider.ts';

const event = 'http://schemas.openid.net/event/backchannel-logout';

/** Signs a logout token of the provider, with other claims or another key. */
export function signLogoutToken(
  { issuer, privateKey }: Pick<StaffProvider, 'issuer' | 'privateKey'>,
  change: Readonly<Record<string, unknown>>,
  { key = privateKey, alg = 'RS256' }: { readonly key?: CryptoKey | Uint8Array; readonly alg?: string } = {},
): Promise<string> {
  const at = Math.floor(Date.now() / 1_000);
  const claims = {
    iss: issuer,
    aud: consoleClient.id,
    iat: at,
    exp: at + 120,
    jti: randomUUID(),
    events: { [event]: {} },
  };
  const header = { alg, kid: 'staff', typ: 'logout+jwt' };
  return new SignJWT({ ...claims, ...change }).setProtectedHeader(header).sign(key);
}

/** Sends a logout token as the provider does, and returns the status of the answer. */
export async function sendLogout(base: string, token: string): Promise<number> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams({ logout_token: token }).toString();
  return (await send(base, { path: '/sign-in/ended', headers, body })).status;
}
