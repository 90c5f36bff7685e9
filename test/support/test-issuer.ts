import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

type Algorithm = 'RS256' | 'ES256';

/** A provider of OpenID Connect that behaves like the real ones, and whose faults a test chooses. */
export interface TestIssuer {
  readonly issuer: string;
  readonly jwksUri: string;
  /** Number of requests for the keys. */
  asked(): number;
  /** Returns an ID token. `change` replaces claims, and `header` parts of the header. */
  sign(claims: object, header?: TokenHeader): Promise<string>;
  /** Makes a new key, which signs from now on. `keepsOld` is how a real provider does it. */
  rotate(keepsOld: boolean): Promise<void>;
  /** Returns the private key by which it signs, so that another process can sign too. */
  privateKey(): Promise<JWK>;
  /** Sets how the next requests for the keys are answered. */
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

export interface TokenHeader {
  readonly alg?: Algorithm;
  readonly kid?: string;
}

export interface Behaviour {
  readonly status?: number;
  readonly body?: string;
  readonly delayMs?: number;
  readonly cacheControl?: string;
}

interface Signer {
  readonly alg: Algorithm;
  readonly kid: string;
  readonly jwk: JWK;
  readonly privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
}

let made = 0;

async function newSigner(alg: Algorithm): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  made += 1;
  const kid = `${alg}-${made}`;
  // The set has the form of Apple's and Google's: `use` and `alg` in each key.
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** Starts a provider with a key for each algorithm. */
export async function startTestIssuer(): Promise<TestIssuer> {
  let signers = [await newSigner('RS256'), await newSigner('RS256'), await newSigner('ES256')];
  let behaviour: Behaviour = {};
  let count = 0;

  async function answer(res: ServerResponse): Promise<void> {
    const { status = 200, delayMs = 0, cacheControl = 'public, max-age=600' } = behaviour;
    const body = behaviour.body ?? JSON.stringify({ keys: signers.map(({ jwk }) => jwk) });
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    res.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': cacheControl, Connection: 'close' });
    res.end(body);
  }

  const server = createServer((_req, res) => {
    count += 1;
    void answer(res);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    issuer,
    jwksUri: `${issuer}/keys`,
    asked: () => count,
    async sign(claims, { alg = 'RS256', kid } = {}) {
      const signer = signers.find((each) => each.alg === alg);
      if (signer === undefined) throw new Error(`there is no key for ${alg}`);
      const at = Math.floor(Date.now() / 1_000);
      return new SignJWT({ iss: issuer, iat: at, exp: at + 600, ...claims })
        .setProtectedHeader({ alg, kid: kid ?? signer.kid })
        .sign(signer.privateKey);
    },
    async rotate(keepsOld) {
      const fresh = [await newSigner('RS256'), await newSigner('ES256')];
      signers = keepsOld ? [...fresh, ...signers] : fresh;
    },
    async privateKey() {
      const [signer] = signers;
      if (signer === undefined) throw new Error('there is no key');
      return { ...(await exportJWK(signer.privateKey)), kid: signer.kid, alg: signer.alg };
    },
    behave(next) {
      behaviour = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
