import type { OutboxStore } from '@auth-account/stores';

/** Ends all leases of the outbox, if Redis may have lost jobs. */
export interface OutboxRelease {
  /** Orders a release. The next {@link run} that succeeds ends the leases. */
  order(): void;
  /** Ends the leases if a release was ordered. If this fails, the order remains. */
  run(): Promise<void>;
}

export interface OutboxReleaseDeps {
  readonly outbox: Pick<OutboxStore, 'release'>;
  readonly now: () => Date;
  readonly onReleased: () => void;
}

export function createOutboxRelease({ outbox, now, onReleased }: OutboxReleaseDeps): OutboxRelease {
  let ordered = 0;
  let done = 0;
  return {
    order() {
      ordered += 1;
    },
    async run() {
      const begun = ordered;
      if (begun === done) return;
      await outbox.release(now());
      // Not `ordered`, because Redis may have lost jobs again during the release.
      done = begun;
      onReleased();
    },
  };
}
