import { type DescMessage, fromBinary, type MessageShape, toJson } from '@bufbuild/protobuf';
import { anyUnpack, StructSchema } from '@bufbuild/protobuf/wkt';
import { AppError } from '../app-error.ts';
import { restoreError } from '../restore-error.ts';
import { errorDomain, statusDetailsKey } from './error-domain.ts';
import { fromFieldPath } from './field-path.ts';
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from './google/rpc/error_details_pb.ts';
import { type Status, StatusSchema } from './google/rpc/status_pb.ts';

/** A failed call. The `ServiceError` of @grpc/grpc-js has this shape. */
export interface GrpcFailure {
  code?: number | undefined;
  metadata?: { get(key: string): readonly (string | Uint8Array)[] } | undefined;
}

/**
 * Returns the AppError behind a failed gRPC call to a service of this family. This is the opposite of `toGrpc`.
 *
 * A failure without our `ErrorInfo` (another domain, an unknown reason, details that cannot be decoded) never becomes
 * an error that a client acts upon. Such a failure is mapped by its status: UNAVAILABLE and DEADLINE_EXCEEDED to
 * ERR-DEPENDENCY-UNAVAILABLE, RESOURCE_EXHAUSTED to ERR-OVERLOADED, and all others to ERR-INTERNAL, with the failure as
 * the cause.
 */
export function fromGrpc(failure: GrpcFailure): AppError {
  const bytes = failure.metadata?.get(statusDetailsKey)[0];
  const restored = typeof bytes === 'object' ? findRestored(bytes, failure) : undefined;
  return restored ?? new AppError(codeOf(failure.code), { cause: failure });
}

function findRestored(bytes: Uint8Array, cause: GrpcFailure): AppError | undefined {
  try {
    return restore(fromBinary(StatusSchema, bytes), cause);
  } catch {
    // Bytes that are not a `Status` come from a service of another family. The failure itself stays the cause.
    return undefined;
  }
}

function restore(status: Status, cause: GrpcFailure): AppError | undefined {
  const info = findDetail(status, ErrorInfoSchema);
  if (info?.domain !== errorDomain) return undefined;
  return restoreError({
    code: info.reason,
    details: itemsOf(status) ?? fieldsOf(status),
    canonical: info.metadata.canonical_code,
    status: Number(info.metadata.http_status),
    retryAfterSeconds: secondsOf(status),
    cause,
  });
}

function itemsOf(status: Status) {
  return findDetail(status, BadRequestSchema)?.fieldViolations.map(({ field, description, reason }) => ({
    loc: fromFieldPath(field),
    msg: description,
    type: reason.toLowerCase(),
  }));
}

function fieldsOf(status: Status) {
  const fields = findDetail(status, StructSchema);
  return fields === undefined ? undefined : toJson(StructSchema, fields);
}

function secondsOf(status: Status): number | undefined {
  const seconds = findDetail(status, RetryInfoSchema)?.retryDelay?.seconds;
  return seconds === undefined ? undefined : Number(seconds);
}

function findDetail<Schema extends DescMessage>(status: Status, schema: Schema): MessageShape<Schema> | undefined {
  for (const detail of status.details) {
    const message = anyUnpack(detail, schema);
    if (message !== undefined) return message;
  }
  return undefined;
}

function codeOf(grpcCode: number | undefined) {
  if (grpcCode === 14 || grpcCode === 4) return 'ERR-DEPENDENCY-UNAVAILABLE';
  return grpcCode === 8 ? 'ERR-OVERLOADED' : 'ERR-INTERNAL';
}
