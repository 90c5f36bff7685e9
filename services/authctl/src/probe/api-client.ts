import type { Static, TSchema } from '@auth-account/contracts/type';
import { faultsOf } from '@auth-account/messaging/faults-of';
import { Agent, request } from 'undici';
import { ProbeFailure } from './step-log.ts';
import { type Patience, within } from './within.ts';

export interface ApiClientOptions {
  /** Base URL, without a slash at its end. */
  readonly apiUrl: string;
  /** `X-Request-ID` that every request has and every answer must repeat. */
  readonly requestId: string;
  readonly patience: Patience;
}

/** The part of the contract's `Route` that the probe uses. */
interface Operation<S extends TSchema> {
  readonly path: string;
  readonly success: { readonly status: number; readonly body: S };
}

export interface ApiClient {
  /**
   * Sends the request and returns the body of a success. Throws a `ProbeFailure` if the answer violates the contract.
   */
  post<S extends TSchema>(operation: Operation<S>, body: object, accessToken?: string): Promise<Static<S>>;
  /** Closes its connections. */
  close(): Promise<void>;
}

const answerLimit = 256 * 1_024;

/** Creates a client of the api with its own connections. */
export function createApiClient({ apiUrl, requestId, patience }: ApiClientOptions): ApiClient {
  const dispatcher = new Agent({ maxResponseSize: answerLimit });
  return {
    async post({ path, success }, body, accessToken) {
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'auth-account-probe',
        'x-request-id': requestId,
        ...(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }),
      };
      const { status, text, echoed } = await within(patience, (signal) =>
        exchange(`${apiUrl}${path}`, { method: 'POST', dispatcher, headers, body: JSON.stringify(body), signal }),
      );
      const json = parse(text);
      if (status !== success.status) throw new ProbeFailure(`answered ${status}${errorCodeOf(json)}`);
      if (echoed !== requestId) throw new ProbeFailure('the answer does not have the X-Request-ID of the request');
      return expectShape(success.body, json);
    },
    close: () => dispatcher.destroy(),
  };
}

async function exchange(url: string, options: Parameters<typeof request>[1]) {
  try {
    const { statusCode: status, headers, body } = await request(url, options);
    return { status, text: await body.text(), echoed: headers['x-request-id'] };
  } catch (error) {
    throw new ProbeFailure(`no answer: ${reasonOf(error)}`, { cause: error });
  }
}

/**
 * Returns the value if it fits the schema. Throws a `ProbeFailure` that names the path of the wrong part, without its
 * content.
 */
export function expectShape<S extends TSchema>(schema: S, value: unknown): Static<S> {
  const faults = faultsOf(schema, value);
  if (faults.length === 0) return value as Static<S>;
  throw new ProbeFailure(`not of the contract's form: ${faults.slice(0, 3).join('; ')}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // no schema accepts it
  }
}

/**
 * Returns the code of an error body, such as ` ERR-OVERLOADED`. For any other body it returns nothing, because that
 * body may be a proxy's page.
 */
function errorCodeOf(json: unknown): string {
  const { error_code } = Object(json) as { readonly error_code?: unknown };
  return typeof error_code === 'string' && /^[A-Z_-]{1,64}$/.test(error_code) ? ` ${error_code}` : '';
}

/** Returns the code of the system or the client, such as ECONNREFUSED, if the error has one. */
export function reasonOf(error: unknown): string {
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  return String(typeof code === 'string' ? code : (message ?? error));
}
