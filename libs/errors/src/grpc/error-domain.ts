/**
 * `ErrorInfo.domain` of every error of this catalogue. A reason has a meaning only together with its domain (AIP-193).
 */
export const errorDomain = 'auth.food-storage';

/** Key of the trailing metadata in which gRPC carries an encoded `google.rpc.Status`. */
export const statusDetailsKey = 'grpc-status-details-bin';
