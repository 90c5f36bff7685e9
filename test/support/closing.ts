interface Part {
  close(): Promise<void>;
}

/** Takes over what is to be closed when the test ends, and gives it back. */
export type Closing = <T extends Part>(part: T) => T;

/** Makes a test that may run beside others of its file: what it opens is closed at its end, the last first. */
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
