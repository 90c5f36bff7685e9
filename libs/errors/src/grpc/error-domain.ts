/** `ErrorInfo.domain` of every error of this catalogue. A reason counts only together with it (AIP-193). */
export const errorDomain = 'auth.food-storage';

/** Key of the trailing metadata in which gRPC carries an encoded `google.rpc.Status`. */
export const statusDetailsKey = 'grpc-status-details-bin';
