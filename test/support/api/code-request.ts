import { codeEmail } from '@auth-account/stores/challenges';
import type { ChallengeDocument, UserDocument } from '@auth-account/stores/documents';
import { newCodeRequest } from '../worker/worker-events.ts';
import type { WorkerFixture } from '../worker/worker-fixture.ts';
import { newChallengeDocument } from './challenge-document.ts';
import { codeOf, serverKeys } from './codes.ts';
import { newUserDocument } from './seed-accounts.ts';

/** Stores a user and an open challenge. Returns the event that requests a mail with its code, and the code. */
export async function askForCode(
  { collections }: Pick<WorkerFixture, 'collections'>,
  person: Partial<UserDocument> = {},
  change: Partial<ChallengeDocument> = {},
) {
  const user: UserDocument = { ...newUserDocument(new Date()), ...person };
  const event = newCodeRequest(undefined, { user_id: user._id, purpose: change.purpose ?? 'password_reset' });
  const { challenge_id, purpose, expires_at } = event.data;
  const challenge = newChallengeDocument(new Date(), {
    ...{ _id: challenge_id, purpose, user_id: user._id, kid: (await serverKeys()).keys[0].kid, resend_at: new Date() },
    expires_at: new Date(expires_at),
    ...change,
  });
  await collections.users.insertOne(user);
  await collections.challenges.insertOne(challenge);
  return { user, event, to: codeEmail(user, purpose)?.email ?? '', code: await codeOf({ collections }, challenge_id) };
}
