/** A delivery as the inbox knows it: an event's effect at one subscriber happens once, at another once more. */
export interface InboxEntry {
  readonly subscriber: string;
  /** The CloudEvent's `id`. */
  readonly eventId: string;
}

/** Makes an effect happen exactly once, however often the event that brings it about is delivered. */
export interface Inbox<Session> {
  /**
   * Runs `effect` and remembers the entry, both or neither: a crash leaves nothing of the one without the other. Gives
   * `duplicate`, and does not run `effect`, where the entry is known. What of the effect does not go through `session` is
   * not covered; and `effect` may run more than once before it is committed.
   *
   * Throws what `effect` throws, or the store's error; the entry is not remembered then.
   */
  once(entry: InboxEntry, effect: (session: Session) => Promise<void>): Promise<'processed' | 'duplicate'>;
}
