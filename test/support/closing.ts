interface Part {
  close(): Promise<void>;
}

/** Registers a part to be closed when the test ends, and returns it. */
export type Closing = <T extends Part>(part: T) => T;

/**
 * Creates a test that may run in parallel with others of its file. At its end it closes, in reverse order, what it has
 * opened.
 */
export function closingAll(work: (closing: Closing) => Promise<void>): () => Promise<void> {
  return async () => {
    const parts: Part[] = [];
    const closing: Closing = (part) => {
      parts.push(part);
      return part;
    };
    try {
      await work(closing);
    } finally {
      for (const part of parts.reverse()) await part.close();
    }
  };
}
