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
    const { closing, closeAll } = openParts();
    try {
      await work(closing);
    } finally {
      await closeAll();
    }
  };
}

/** Keeps the parts of one test after the other. `closeAll` closes in reverse order those that are open. */
export function openParts(): { readonly closing: Closing; closeAll(): Promise<void> } {
  const parts: Part[] = [];
  return {
    closing(part) {
      parts.push(part);
      return part;
    },
    async closeAll() {
      for (const part of parts.splice(0).reverse()) await part.close();
    },
  };
}

/** Ends what was started. Called in reverse order. */
export type Endings = (() => Promise<unknown>)[];

/**
 * Starts parts that belong together, or nothing: if one fails to start, those before it are ended. `start` adds to
 * `endings` what ends a part. Returns its result, and `close`, which ends all parts.
 */
export async function startWhole<T extends object>(
  start: (endings: Endings) => Promise<T>,
): Promise<T & { close(): Promise<void> }> {
  const endings: Endings = [];
  const close = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    return { ...(await start(endings)), close };
  } catch (error) {
    await close();
    throw error;
  }
}
