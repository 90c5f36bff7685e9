import type { PasskeyBridge } from '../groups/passkeys.ts';

/** A credential of a page. */
interface PageCredential {
  readonly id: string;
  readonly rawId: ArrayBuffer;
  readonly response: {
    readonly clientDataJSON: ArrayBuffer;
    readonly attestationObject?: ArrayBuffer;
    readonly authenticatorData?: ArrayBuffer;
    readonly signature?: ArrayBuffer;
    readonly userHandle?: ArrayBuffer | null;
    getTransports?(): string[];
  };
}

/** The parts of a page that the adapter uses. */
interface Page {
  readonly navigator: { readonly credentials: Record<'create' | 'get', (options: object) => Promise<PageCredential>> };
  readonly PublicKeyCredential?: Pick<PasskeyBridge, 'signalUnknownCredential' | 'signalAllAcceptedCredentials'>;
  atob(text: string): string;
  btoa(text: string): string;
}

interface Described {
  readonly id: string;
}
interface CreationOptions {
  readonly challenge: string;
  readonly user: Described;
  readonly excludeCredentials?: readonly Described[];
}
interface RequestOptions {
  readonly challenge: string;
  readonly allowCredentials?: readonly Described[];
}

const page = globalThis as unknown as Page;

/**
 * Creates the bridge of a page. A page can ask for one passkey at a time, so each call ends the one before it, such as
 * that of autofill. Converts the bytes itself, because `toJSON` fails for the credentials of some password managers.
 */
export function browserPasskeys(): PasskeyBridge {
  let last: AbortController | undefined;

  async function ask(method: 'create' | 'get', options: object, ended?: AbortSignal): Promise<object> {
    last?.abort();
    const own = new AbortController();
    last = own;
    const end = () => own.abort();
    if (ended?.aborted) end();
    ended?.addEventListener('abort', end);
    try {
      return jsonOf(await page.navigator.credentials[method]({ ...options, signal: own.signal }));
    } finally {
      ended?.removeEventListener('abort', end);
    }
  }

  return {
    create: ({ challenge, user, excludeCredentials = [], ...rest }: CreationOptions) =>
      ask('create', {
        publicKey: {
          ...rest,
          challenge: bytesOf(challenge),
          user: withBytes(user),
          excludeCredentials: excludeCredentials.map(withBytes),
        },
      }),
    get: ({ challenge, allowCredentials = [], ...rest }: RequestOptions, { mediation, signal }) =>
      ask(
        'get',
        {
          publicKey: { ...rest, challenge: bytesOf(challenge), allowCredentials: allowCredentials.map(withBytes) },
          ...(mediation && { mediation }),
        },
        signal,
      ),
    signalUnknownCredential: async (facts) => page.PublicKeyCredential?.signalUnknownCredential?.(facts),
    signalAllAcceptedCredentials: async (facts) => page.PublicKeyCredential?.signalAllAcceptedCredentials?.(facts),
  };
}

function jsonOf({ id, rawId, response }: PageCredential): object {
  const { clientDataJSON, attestationObject, authenticatorData, signature, userHandle } = response;
  const bytes = { clientDataJSON, attestationObject, authenticatorData, signature, userHandle };
  const texts = Object.entries(bytes).flatMap(([name, value]) => (value ? [[name, textOf(value)]] : []));
  const transports = response.getTransports?.();
  return {
    id,
    rawId: textOf(rawId),
    type: 'public-key',
    response: { ...Object.fromEntries(texts), ...(transports && { transports }) },
  };
}

const withBytes = ({ id, ...rest }: Described) => ({ ...rest, id: bytesOf(id) });

/** Reads base64url. */
function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(page.atob(text.replace(/-/g, '+').replace(/_/g, '/')), (character) => character.charCodeAt(0));
}

function textOf(bytes: ArrayBuffer): string {
  const text = page.btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}
