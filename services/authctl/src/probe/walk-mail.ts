import { routes } from '@auth-account/contracts';
import type { ApiClient } from './api-client.ts';
import { type MailboxAccess, openMailbox } from './mailbox.ts';
import { newPassword } from './probe-accounts.ts';
import type { Credentials } from './probe-plan.ts';
import type { TakeStep } from './step-log.ts';
import type { Patience } from './within.ts';

export interface MailWalk {
  readonly api: ApiClient;
  readonly mailbox: MailboxAccess;
  readonly credentials: Credentials;
  readonly deviceId: string;
  readonly take: TakeStep;
  /** Limits for the arrival of one mail. */
  readonly patience: Patience;
}

/**
 * Walks the path that needs a mailbox, like a person who forgot the password and then deletes the account. It gets a
 * code by mail, sets a new password and logs in with it. Then it gets one more code by mail and orders the deletion
 * with it.
 */
export async function walkMail({
  api,
  mailbox: access,
  credentials,
  deviceId,
  take,
  patience,
}: MailWalk): Promise<void> {
  const { email } = credentials;
  const device = { device_id: deviceId };
  const mailbox = openMailbox(access, patience);
  try {
    const { challenge_id } = await take('reset', () => ask(api, routes.requestPasswordReset, { email, ...device }));
    const code = await take('reset_mail', () => mailbox.nextCode(email));
    const password = newPassword();
    await take('reset_confirm', () =>
      api.post(routes.confirmPasswordReset, { challenge_id, code, new_password: password }),
    );
    await take('login_again', () =>
      api.post(routes.logIn, { email, password, ...device, device_name: 'probe', platform: 'other' }),
    );
    const order = await take('deletion', () => ask(api, routes.requestDeletion, { email, ...device }));
    const consent = await take('deletion_mail', () => mailbox.nextCode(email));
    await take('deletion_confirm', () =>
      api.post(routes.confirmDeletion, { challenge_id: order.challenge_id, code: consent }),
    );
  } finally {
    await mailbox.close();
  }
}

async function ask(
  api: ApiClient,
  route: typeof routes.requestPasswordReset | typeof routes.requestDeletion,
  body: object,
) {
  return (await api.post(route, body)).data;
}
