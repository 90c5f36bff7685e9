/** The gRPC statuses that rows use. Each name is bound to its number, so a wrong pair does not compile. */
export type GrpcStatus =
  | { readonly name: 'OK'; readonly number: 0 }
  | { readonly name: 'CANCELLED'; readonly number: 1 }
  | { readonly name: 'INVALID_ARGUMENT'; readonly number: 3 }
  | { readonly name: 'DEADLINE_EXCEEDED'; readonly number: 4 }
  | { readonly name: 'NOT_FOUND'; readonly number: 5 }
  | { readonly name: 'ALREADY_EXISTS'; readonly number: 6 }
  | { readonly name: 'PERMISSION_DENIED'; readonly number: 7 }
  | { readonly name: 'RESOURCE_EXHAUSTED'; readonly number: 8 }
  | { readonly name: 'FAILED_PRECONDITION'; readonly number: 9 }
  | { readonly name: 'ABORTED'; readonly number: 10 }
  | { readonly name: 'OUT_OF_RANGE'; readonly number: 11 }
  | { readonly name: 'UNIMPLEMENTED'; readonly number: 12 }
  | { readonly name: 'INTERNAL'; readonly number: 13 }
  | { readonly name: 'UNAVAILABLE'; readonly number: 14 }
  | { readonly name: 'DATA_LOSS'; readonly number: 15 }
  | { readonly name: 'UNAUTHENTICATED'; readonly number: 16 };

export type Domain = 'IAD' | 'MDM' | 'INV' | 'AID' | 'AFF' | 'PMA' | 'ENDPOINT';

/**
 * Level at which a service logs the error. `info` is everyday traffic, `warning` is worth a look when frequent, `error`
 * is a fault of our own, and `critical` raises an alert.
 */
export type Severity = 'info' | 'warning' | 'error' | 'critical';

/**
 * Reaction of the client or the system, in a form for programs: a type and its parameters. The compiler can check that
 * a `switch` over the type is exhaustive.
 */
export type Reaction =
  | { readonly type: ReactionWithoutParameters }
  | { readonly type: 'CHOOSE_ALLOWED_REASON'; readonly allowed: readonly string[] }
  | { readonly type: 'CUT_STREAM'; readonly status: number }
  /** `topicNumber`: 5 or 13, the topic's number in the system's message map. */
  | { readonly type: 'FORCE_LOGOUT' | 'MANUAL_MODERATION'; readonly topicNumber: number }
  | { readonly type: 'HIGHLIGHT_EMAIL_FIELD'; readonly field: string }
  | { readonly type: 'INJECT_TRACE_ID'; readonly header: string }
  /** An operation of the API to call, by its `operationId`. */
  | { readonly type: 'OFFER_RESTORE' | 'REFRESH_AND_RETRY'; readonly operation: string }
  | { readonly type: 'SHOW_ZERO_STOCK'; readonly shown: number }
  | { readonly type: 'START_BARCODE_PROCESSING'; readonly topic: string };

export type ReactionType = Reaction['type'];

type ReactionWithoutParameters =
  | 'ABORT_JOB_AND_ALERT'
  | 'ADD_WAY_TO_SIGN_IN'
  | 'ASK_CODE'
  | 'ASK_GROUP_OWNER'
  | 'ASK_PASSWORD'
  | 'ASK_SECOND_FACTOR'
  | 'AUDIT_AND_RESET_CACHE'
  | 'BLOCK_BATCH'
  | 'BLOCK_PANTRY_AND_WAIT'
  | 'ASK_PROVIDER_AGAIN'
  | 'BLOCK_WRITE_OFF'
  | 'CHECK_CREDENTIALS'
  | 'CHECK_INVITE'
  | 'CHECK_PASSKEY'
  | 'SHOW_REGISTRATION'
  | 'CLEAR_STORAGE_AND_LOGIN'
  | 'CLOSE_STREAM_AND_CLEAR_BUFFER'
  | 'CONTACT_SUPPORT'
  | 'DISABLE_LIVE_LOGS'
  | 'FIX_INPUT'
  | 'FIX_REQUEST'
  | 'HIDE_HINTS'
  | 'HIDE_MAP_AND_ALERT'
  | 'HIGHLIGHT_SCAN_ERROR'
  | 'LEAVE_GROUP_MODAL'
  | 'LOCK_AND_REPORT'
  | 'LOGIN'
  | 'LOG_AND_ABORT'
  | 'OFFER_OTHER_WAY'
  | 'PROVE_ACCOUNT'
  | 'RECONNECT_WITH_OWN_SESSION'
  | 'REFRESH_SCREEN_AND_RESELECT'
  | 'REGISTER_WITH_ADDRESS'
  | 'REQUEST_NEW_CODE'
  | 'REPEAT_DICTATION'
  | 'REPORT'
  | 'REQUEST_NEW_INVITE'
  | 'REQUEUE_WITH_BACKOFF'
  | 'RESET_WEIGHTS'
  | 'RETRY_WITH_BACKOFF'
  | 'RETURN_EMPTY_LIST'
  | 'RETURN_TO_COOKBOOK'
  | 'REVOKE_INVITE'
  | 'SHOW_LOADER_WITH_RETRY'
  | 'STEP_UP'
  | 'SWITCH_TO_PHOTO_MODE'
  | 'USE_NEW_IDEMPOTENCY_KEY';

/**
 * Says when the same request, unchanged, may succeed. `after_delay`: a little later (`Retry-After`, then growing
 * pauses). `after_refresh`: at once with a new access token. `never`: something else must change first.
 */
export type Retry = 'after_delay' | 'after_refresh' | 'never';

/**
 * Type of one field of `details`. A trailing `?` makes it optional. If the type is a list, the field's value is one of
 * the list's words, and the code has a text for each. Such a field is optional too, because a receiver drops a newer
 * version's word that it does not know. An `object` is any JSON object, passed through as it is.
 */
export type DetailType = DetailWord | `${DetailWord}?` | readonly string[];
export type DetailWord = 'string' | 'number' | 'boolean' | 'string[]' | 'object';
export type DetailFields = Readonly<Record<string, DetailType>>;

/** One row of the table. Both statuses, HTTP and gRPC, are stored; neither is derived from the other. */
export interface CatalogueRow {
  readonly domain: Domain;
  /** `error` is thrown, `notice` accompanies a success, `metrics` is counted but reaches no client. */
  readonly kind: 'error' | 'notice' | 'metrics';
  readonly grpc: GrpcStatus;
  /** The HTTP status, or the default one if `httpAlternatives` allows others. */
  readonly http: number;
  readonly httpAlternatives?: readonly number[];
  /** Meaning; for the six domains, word for word as in specified-rows.txt. */
  readonly meaning: string;
  /** Consequence; for the six domains, word for word as in specified-rows.txt. */
  readonly reactionText: string;
  readonly reaction: Reaction;
  readonly retry: Retry;
  readonly severity: Severity;
  /** The fields of `details` besides `action`, or `validation-items` if `details` is an array of validation items. */
  readonly details?: DetailFields | 'validation-items';
  /** Catalogue row that an endpoint code always stands for. */
  readonly canonical?: string;
  /** `Retry-After` in whole seconds, used if the thrown error names none. */
  readonly retryAfterSeconds?: number;
  /** `WWW-Authenticate`. Every 401 needs one (RFC 9110 section 15.5.2). */
  readonly challenge?: string;
  readonly note?: string;
}

/** The rows of one domain. The codes have the domain's prefix. */
export type DomainRows<D extends Exclude<Domain, 'ENDPOINT'>> = Readonly<
  Record<`${D}_${string}`, CatalogueRow & { readonly domain: D }>
>;

/** The rows of the endpoint codes. */
export type EndpointRows = Readonly<Record<`ERR-${string}`, CatalogueRow & { readonly domain: 'ENDPOINT' }>>;
