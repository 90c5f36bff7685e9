import { AppError, isAppError, negotiateLocale } from '@auth-account/errors';
import { statusDetailsKey, toGrpc } from '@auth-account/errors/grpc';
import type { Verifier } from '../create-verifier.ts';
import { checkedRequirements, type Requirements } from '../requirements.ts';
import { rememberCaller } from './caller-of.ts';

export { callerOf } from './caller-of.ts';

interface GrpcMetadata {
  get(key: string): (string | Buffer)[];
}

interface GrpcCall {
  readonly metadata: GrpcMetadata;
}

interface GrpcStreamingCall extends GrpcCall {
  emit(event: 'error', error: object): unknown;
}

export interface GrpcGuardOptions<M extends GrpcMetadata> {
  readonly verifier: Pick<Verifier, 'authenticate'>;
  /** The class of `@grpc/grpc-js`. */
  readonly Metadata: new () => M & { set(key: string, value: Buffer): void };
}

/** gRPC's status code UNKNOWN. */
const unknownStatus = 2;

/** A refusal in the shape that `@grpc/grpc-js` expects. */
interface GrpcRefusal<M> extends Error {
  readonly code: number;
  readonly details: string;
  readonly metadata: M;
}

/**
 * Creates wrappers for gRPC handlers. A call with a valid access token in its metadata (`authorization: Bearer …`)
 * reaches its handler, and `callerOf(call)` returns its claims. Other calls end with the catalogue's status and
 * details. If a handler throws, its call ends with the status UNKNOWN, the same as without a guard. A method that needs
 * more than a valid token names its requirements.
 *
 * @example
 * const guard = createGrpcGuard({ verifier, Metadata });
 * server.addService(Pantry, { find: guard.unary(find), clear: guard.unary(clear, { maxAge: 300, acr: '2' }) });
 */
export function createGrpcGuard<M extends GrpcMetadata>({ verifier, Metadata }: GrpcGuardOptions<M>) {
  async function refusalOf(call: GrpcCall, requirements: Requirements): Promise<GrpcRefusal<M> | undefined> {
    try {
      rememberCaller(call, await verifier.authenticate(textOf(call, 'authorization'), requirements));
      return undefined;
    } catch (error) {
      const known = isAppError(error) ? error : new AppError('ERR-INTERNAL', { cause: error });
      const locale = negotiateLocale(textOf(call, 'accept-language'));
      const { code, details, encoded } = toGrpc(known, { locale, requestId: textOf(call, 'x-request-id') });
      const metadata = new Metadata();
      metadata.set(statusDetailsKey, Buffer.from(encoded));
      return Object.assign(new Error(details, { cause: known }), { code, details, metadata });
    }
  }

  /**
   * Returns the answer of `@grpc/grpc-js` to a handler that throws. The library cannot catch this itself, because the
   * handler runs after the wait for the token.
   */
  function failureOf(cause: unknown): GrpcRefusal<M> {
    const details = 'Unknown error';
    return Object.assign(new Error(details, { cause }), { code: unknownStatus, details, metadata: new Metadata() });
  }

  return {
    /** Wraps a handler that answers once, for a unary call or a stream from the client. */
    unary<C extends GrpcCall, K extends (error: GrpcRefusal<M>) => void>(
      handler: (call: C, callback: K) => void,
      requirements?: Requirements,
    ) {
      const checked = checkedRequirements(requirements);
      return async (call: C, callback: K): Promise<void> => {
        const refusal = await refusalOf(call, checked);
        if (refusal !== undefined) return callback(refusal);
        try {
          handler(call, callback);
        } catch (error) {
          callback(failureOf(error));
        }
      };
    },
    /** Wraps a handler that answers with a stream. */
    stream<C extends GrpcStreamingCall>(handler: (call: C) => void, requirements?: Requirements) {
      const checked = checkedRequirements(requirements);
      return async (call: C): Promise<void> => {
        const refusal = await refusalOf(call, checked);
        if (refusal !== undefined) return void call.emit('error', refusal);
        try {
          handler(call);
        } catch (error) {
          call.emit('error', failureOf(error));
        }
      };
    },
  };
}

function textOf({ metadata }: GrpcCall, key: string): string | undefined {
  const [value] = metadata.get(key);
  return typeof value === 'string' ? value : undefined;
}
