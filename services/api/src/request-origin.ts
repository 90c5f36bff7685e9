/** What of a request goes into everything that it causes. */
export interface RequestOrigin {
  readonly requestId: string;
  /** W3C trace context of the request, where it had a well-formed one. */
  readonly traceparent?: string | undefined;
}
