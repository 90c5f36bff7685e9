/**
 * An operation that was not refused, and has changed nothing yet. A page that asks in one request and runs in the next
 * makes the plan again: an equal question means that what was confirmed is still what will happen.
 */
export interface Plan<T> {
  /**
   * Says what will happen, and asks for it; the program decides whether it asks. Undefined if nothing would happen. It
   * names the account with its email address, so that a person notices a wrong one; it must not go into a log.
   */
  readonly question?: string;
  /**
   * Carries the operation out. Throws an `OperationError`: `changed` if what it concerns has changed since the plan was
   * made, and what the operation says of itself.
   */
  readonly run: () => Promise<T>;
}
