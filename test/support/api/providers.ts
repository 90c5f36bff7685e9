import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { importJWK, SignJWT } from 'jose';
import type { Answer } from '../http-client.ts';
import { password } from './accounts.ts';
import { type ApiDriver, bearer, type Caller, dataOf } from './api-driver.ts';
import { codeOf } from './codes.ts';
import type { GroupApi } from './groups.ts';

/**
 * Settings of providers for the apis of tests: `office`, which gives out the email addresses of `office.example`, and
 * `partner`, which gives out none. The global set-up has started the server of their keys.
 */
export function providerSettings(): Record<string, string> {
  const url = process.env.TEST_PROVIDER_URL;
  if (url === undefined) return {};
  const shared = { jwks_uri: `${url}/keys`, client_ids: ['app'] };
  const office = { ...shared, name: 'office', issuers: [url], email_domains: ['office.example'], notices: 'apple' };
  const partner = { ...shared, name: 'partner', issuers: [`${url}/partner`], notices: 'risc' };
  return { IDENTITY_PROVIDERS: JSON.stringify([office, partner]) };
}

export type Provider = 'office' | 'partner';

/** A person at a provider. */
export interface Person {
  readonly sub: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly name: string;
}

/** Returns a person whom no account has. */
export function newPerson(change: Partial<Person> = {}): Person {
  const sub = randomUUID();
  return { sub, email: `cook-${sub}@office.example`, email_verified: true, name: 'Anna', ...change };
}

/** Returns an ID token. */
export async function signIdToken(provider: Provider, claims: object): Promise<string> {
  const jwk = JSON.parse(process.env.TEST_PROVIDER_KEY ?? '');
  const iss = `${process.env.TEST_PROVIDER_URL}${provider === 'office' ? '' : '/partner'}`;
  const at = Math.floor(Date.now() / 1_000);
  return new SignJWT({ iss, aud: 'app', iat: at, exp: at + 600, ...claims })
    .setProtectedHeader({ alg: jwk.alg, kid: jwk.kid })
    .sign(await importJWK(jwk));
}

/** Asks for a challenge. Throws if the answer is not 200. */
export function requestProviderLogin(on: ApiDriver): Promise<{ challenge_id: string; nonce: string }> {
  return dataOf(on.createFederatedChallenge());
}

/** Returns the fields of a body that prove the person. */
export async function provePerson(on: ApiDriver, person: object, provider: Provider = 'office') {
  const { challenge_id, nonce } = await requestProviderLogin(on);
  return { challenge_id, id_token: await signIdToken(provider, { ...person, nonce }) };
}

/** Logs in by a provider. */
export async function logInByProvider(
  on: ApiDriver,
  person: object,
  fields: object = {},
  provider: Provider = 'office',
): Promise<Answer> {
  return on.logInByProvider({ provider, ...(await provePerson(on, person, provider)), ...fields });
}

/** Field that lets a login by a provider create an account. */
export const newHome = { space_creation_mode: 'CREATE_NEW_HOME' };

/** Logs in by an identity whose email address an account has. Returns what the account must be proved with. */
export async function demandLink(on: ApiDriver, person: object, provider: Provider = 'office', fields: object = {}) {
  const { status, json, text } = await logInByProvider(on, person, fields, provider);
  if (json.error_code !== 'ERR-ACCOUNT-LINK-REQUIRED') throw new Error(`the login answered ${status}: ${text}`);
  return json.details;
}

/** Proves an account to which an identity is to be linked. */
export const linkByProof = (
  on: ApiDriver,
  link_challenge_id: string,
  proof: object,
  headers: Record<string, string> = {},
): Promise<Answer> => on.linkByProof({ link_challenge_id, ...proof }, headers);

/** Asks for a code that links an identity, and returns it as a proof. */
export async function proveByCode(on: GroupApi, link_challenge_id: string) {
  const { challenge_id } = await dataOf(on.requestLinkCode({ link_challenge_id }), 202);
  return { challenge_id, code: await codeOf(on, challenge_id) };
}

/** Links an identity to the caller's account. */
export async function linkIdentity(
  on: ApiDriver,
  caller: Caller,
  person: object,
  fields: object = { current_password: password },
  provider: Provider = 'office',
): Promise<Answer> {
  const body = { ...(await provePerson(on, person, provider)), ...fields };
  return on.linkIdentity({ identity: provider, ...body }, bearer(caller));
}

/** Removes an identity. */
export const unlinkIdentity = (
  on: ApiDriver,
  caller: Caller,
  identity: string,
  body: object = { current_password: password },
): Promise<Answer> => on.unlinkIdentity({ identity, ...body }, bearer(caller));

/** The page of the app `web`, to which the provider sends its codes. */
export const webPage = 'https://app.example.com/signed-in';

/** Returns an entry of IDENTITY_PROVIDERS for a provider whose codes are exchanged. Each one has a key of its own. */
export function exchangingEntry({ issuer, jwksUri }: { readonly issuer: string; readonly jwksUri: string }) {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    ...{ name: 'office', issuers: [issuer], jwks_uri: jwksUri, client_ids: ['app', 'web'] },
    ...{ token_endpoint: `${issuer}/token`, revocation_endpoint: `${issuer}/revoke`, team_id: 'TEAM', key_id: 'KEY' },
    private_key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    redirect_uris: { web: webPage },
    email_domains: ['office.example'],
  };
}

/** Returns a security event token in Apple's form, whose events are JSON in a text. */
export function signSecurityEventToken(event: object | readonly object[], claims: object = {}): Promise<string> {
  return signIdToken('office', { jti: randomUUID(), events: JSON.stringify(event), ...claims });
}

/** Sends a security event token in Apple's form. */
export async function sendSecurityEvent(on: ApiDriver, event: object, claims: object = {}): Promise<Answer> {
  return postSecurityEventToken(on, await signSecurityEventToken(event, claims));
}

/** Sends a security event token as Apple does: without a request id. */
export const postSecurityEventToken = (on: ApiDriver, payload: string): Promise<Answer> =>
  on.receiveProviderNotice({ provider: 'office', payload }, { 'X-Request-ID': '' });
