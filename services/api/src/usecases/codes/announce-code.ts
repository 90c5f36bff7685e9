import { randomInt } from 'node:crypto';
import type { AuthEvent, Locale } from '@auth-account/contracts/events';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import type { OutboxStore } from '@auth-account/stores';
import type { ChallengeDocument } from '@auth-account/stores/documents';
import type { ClientSession } from 'mongodb';
import type { Ids } from '../../request/ids.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';

export interface AnnounceCodeDeps {
  readonly outbox: Pick<OutboxStore, 'append' | 'appendDelivered'>;
  readonly publishEvent: (event: AuthEvent) => void;
  readonly ids: Pick<Ids, 'entityId'>;
}

/** A challenge whose code is to be sent, or nobody's. */
export interface CodeToSend {
  readonly challenge: ChallengeDocument;
  readonly locale: Locale;
  /** `nobody`: no mail is sent, after the same work. */
  readonly to: 'user' | 'nobody';
  /** Event in place of the code. */
  readonly instead?: AuthEvent | undefined;
  readonly at: Date;
}

/** Announces that a code is to be sent: first in the transaction of its challenge, then after the commit. */
export interface CodeAnnouncement {
  append(session: ClientSession): Promise<void>;
  publish(): void;
}

/** Milliseconds, nothing to somebody who waits for a mail. */
const longestDelayMs = 500;

/** Creates the function that prepares the announcement. The worker derives the code when it sends the mail. */
export function createAnnounceCode({ outbox, publishEvent, ids }: AnnounceCodeDeps) {
  return ({ challenge, locale, to, instead, at }: CodeToSend, origin: RequestOrigin): CodeAnnouncement => {
    const { _id: challenge_id, user_id, purpose, expires_at } = challenge;
    const data = { challenge_id, user_id, purpose, locale, expires_at: expires_at.toISOString() };
    const source = eventOrigin(origin, at, ids);
    const event = instead ?? createAccountEvent('service.auth.events.code_requested', data, source);
    const isSent = to === 'user' || instead !== undefined;
    return {
      append: (session) => (isSent ? outbox.append(event, at, session) : outbox.appendDelivered(event, at, session)),
      publish() {
        // Some time after the answer: neither its time nor that of the next one must tell whether there is something to
        // publish. What is lost by a stop meanwhile is left to the relay.
        if (isSent) setTimeout(publishEvent, randomInt(longestDelayMs), event).unref();
      },
    };
  };
}

export type AnnounceCode = ReturnType<typeof createAnnounceCode>;
