import {
  create,
  type DescMessage,
  fromJson,
  type JsonObject,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf';
import { type Any, anyPack, StructSchema } from '@bufbuild/protobuf/wkt';
import type { AppError } from '../app-error.ts';
import { rowOf } from '../catalogue.ts';
import type { Locale } from '../locales.ts';
import { textOf } from '../text-of.ts';
import type { ValidationItem } from '../validation-item.ts';
import { errorDomain } from './error-domain.ts';
import { toFieldPath } from './field-path.ts';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  LocalizedMessageSchema,
  RequestInfoSchema,
  RetryInfoSchema,
} from './google/rpc/error_details_pb.ts';
import { type Status, StatusSchema } from './google/rpc/status_pb.ts';

export interface GrpcError {
  /** The gRPC status number. */
  code: number;
  /** Status message in English, for developers. The field has the name that @grpc/grpc-js uses. */
  details: string;
  status: Status;
  /** The encoded `status`: the value of `grpc-status-details-bin`. */
  encoded: Uint8Array;
}

export interface GrpcErrorOptions {
  locale: Locale;
  /** `X-Request-ID` of the call. */
  requestId?: string | undefined;
}

/**
 * Returns the gRPC answer to an error: a `google.rpc.Status` as AIP-193 requires it. Its details are `ErrorInfo` (its
 * reason is the code; its metadata are `http_status`, the type of the `reaction`, `retry`, `action` and, if there is
 * one, `canonical_code`), `LocalizedMessage`, `BadRequest` for validation items, `RetryInfo`, `RequestInfo`, and a
 * `google.protobuf.Struct` of the typed details. Clients and proxies accept only about 8 KiB of trailing metadata, so
 * keep lists in details short.
 *
 * @example
 * const { code, details, encoded } = toGrpc(error, { locale: 'en' });
 * const metadata = new Metadata();
 * metadata.set(statusDetailsKey, Buffer.from(encoded));
 * callback({ code, details, metadata });
 */
export function toGrpc(error: AppError, options: GrpcErrorOptions): GrpcError {
  const { grpc, meaning } = rowOf(error.code);
  const status = create(StatusSchema, { code: grpc.number, message: meaning, details: detailsOf(error, options) });
  return { code: grpc.number, details: meaning, status, encoded: toBinary(StatusSchema, status) };
}

function detailsOf(error: AppError, { locale, requestId }: GrpcErrorOptions): Any[] {
  const { message, action } = textOf(error, locale);
  const packed = [
    pack(ErrorInfoSchema, { reason: error.code, domain: errorDomain, metadata: metadataOf(error, action) }),
    pack(LocalizedMessageSchema, { locale, message }),
  ];
  if (Array.isArray(error.details))
    packed.push(pack(BadRequestSchema, { fieldViolations: violationsOf(error.details) }));
  else if (Object.keys(error.details).length > 0) {
    packed.push(anyPack(StructSchema, fromJson(StructSchema, plainJson(error.details))));
  }
  if (error.retryAfterSeconds !== undefined) {
    packed.push(pack(RetryInfoSchema, { retryDelay: { seconds: BigInt(error.retryAfterSeconds) } }));
  }
  if (requestId !== undefined) packed.push(pack(RequestInfoSchema, { requestId }));
  return packed;
}

function metadataOf(error: AppError, action: string): Record<string, string> {
  const { reaction, retry } = rowOf(error.code);
  return {
    http_status: String(error.status),
    reaction: reaction.type,
    retry,
    action,
    ...(error.canonical === undefined ? {} : { canonical_code: error.canonical }),
  };
}

/** Converts validation items to violations. AIP-193 writes a violation's reason in upper case: `STRING_TOO_SHORT`. */
function violationsOf(items: readonly ValidationItem[]) {
  return items.map(({ loc, msg, type }) => ({
    field: toFieldPath(loc),
    description: msg,
    reason: type.toUpperCase(),
  }));
}

/** Drops optional fields that are present but undefined, because a Struct has no equivalent for them. */
function plainJson(details: object): JsonObject {
  return JSON.parse(JSON.stringify(details)) as JsonObject;
}

function pack<Schema extends DescMessage>(schema: Schema, fields: MessageInitShape<Schema>): Any {
  return anyPack(schema, create(schema, fields));
}
