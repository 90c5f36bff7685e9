import { join } from 'node:path';
import { emailKey } from '@auth-account/stores';
import type { ChallengeDocument, UserDocument } from '@auth-account/stores/documents';
import { createEmailCodes, loadKeyFile } from '@auth-account/tokens';
import { testEnvironment } from '../test-environment.ts';
import { newCodeRequest } from '../worker/worker-events.ts';
import type { WorkerFixture } from '../worker/worker-fixture.ts';
import { newChallengeDocument } from './challenge-document.ts';
import { newUserDocument } from './use-case-fixture.ts';

/** Stores a user and an open challenge. Returns the event that requests a mail with its code, and the code. */
export async function askForCode(
  { collections }: Pick<WorkerFixture, 'collections'>,
  person: Partial<UserDocument> = {},
  change: Partial<ChallengeDocument> = {},
) {
  const keys = await loadKeyFile(join(testEnvironment().keysDir, 'server-keys.json'));
  const user: UserDocument = { ...newUserDocument(new Date()), ...person };
  const event = newCodeRequest(undefined, { user_id: user._id, purpose: change.purpose ?? 'password_reset' });
  const { challenge_id, purpose, expires_at } = event.data;
  const challenge = newChallengeDocument(new Date(), {
    ...{ _id: challenge_id, purpose, user_id: user._id, kid: keys.keys[0].kid, resend_at: new Date() },
    expires_at: new Date(expires_at),
    ...change,
  });
  await collections.users.insertOne(user);
  await collections.challenges.insertOne(challenge);
  const to = purpose === 'email_change' ? (user.pending_email ?? '') : user.email;
  const parts = { kid: challenge.kid, challengeId: challenge_id, purpose, userId: user._id, emailKey: emailKey(to) };
  return { user, event, to, code: createEmailCodes(keys).codeOf(parts) };
}
