export { errorDomain, statusDetailsKey } from './error-domain.ts';
export { fromGrpc, type GrpcFailure } from './from-grpc.ts';
export { type GrpcError, type GrpcErrorOptions, toGrpc } from './to-grpc.ts';
