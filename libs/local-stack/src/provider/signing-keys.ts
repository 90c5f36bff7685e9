import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from 'jose';

type Algorithm = 'RS256' | 'ES256';
export type TokenHeader = Partial<JWTHeaderParameters> & { readonly alg?: Algorithm };

interface Signer {
  readonly alg: Algorithm;
  readonly kid: string;
  readonly jwk: JWK;
  readonly privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
}

/** Keys of a provider. They are made when they are first needed. */
export interface SigningKeys {
  /** Returns the public keys, in the form of Apple's and Google's: `use` and `alg` in each key. */
  keySet(): Promise<{ readonly keys: readonly JWK[] }>;
  /** Returns a signed token of exactly these claims. `header` replaces parts of the header. */
  sign(claims: object, header?: TokenHeader): Promise<string>;
  /** Makes a new key for each algorithm, which signs from now on. `keepsOld` is how a real provider does it. */
  rotate(keepsOld: boolean): Promise<void>;
  /** Returns a private key by which it signs, so that another process can sign too. */
  privateKey(): Promise<JWK>;
}

/** Creates two keys for RS256 and one for ES256. */
export function createSigningKeys(): SigningKeys {
  let made = 0;
  let signers: Promise<readonly Signer[]> | undefined;

  async function newSigner(alg: Algorithm): Promise<Signer> {
    made += 1;
    const kid = `${alg}-${made}`;
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
  }
  const newSigners = (...algorithms: Algorithm[]) => Promise.all(algorithms.map(newSigner));

  function present(): Promise<readonly Signer[]> {
    signers ??= newSigners('RS256', 'RS256', 'ES256');
    return signers;
  }

  async function signerFor(wanted: Algorithm): Promise<Signer> {
    const found = (await present()).find(({ alg }) => alg === wanted);
    if (found === undefined) throw new Error(`there is no key for ${wanted}`);
    return found;
  }

  return {
    keySet: async () => ({ keys: (await present()).map(({ jwk }) => jwk) }),
    async sign(claims, { alg = 'RS256', ...header } = {}) {
      const { kid, privateKey } = await signerFor(alg);
      return new SignJWT({ ...claims }).setProtectedHeader({ kid, ...header, alg }).sign(privateKey);
    },
    async rotate(keepsOld) {
      const [fresh, old] = [await newSigners('RS256', 'ES256'), await present()];
      signers = Promise.resolve(keepsOld ? [...fresh, ...old] : fresh);
    },
    async privateKey() {
      const { alg, kid, privateKey } = await signerFor('RS256');
      return { ...(await exportJWK(privateKey)), kid, alg };
    },
  };
}
