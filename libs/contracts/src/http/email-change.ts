import * as Type from '../type.ts';
import { ReauthenticatedObject } from './account.ts';
import { Email, InvitesRevoked, Success, Timestamp } from './fields.ts';

/** Time in which a change of the email address can be undone from the old one, in seconds. */
export const emailUndoSeconds = 72 * 60 * 60;

/** Body of `POST /api/v1/account/email-change`. */
export const EmailChangeRequest = ReauthenticatedObject({ new_email: Email });
export type EmailChangeRequest = Type.Static<typeof EmailChangeRequest>;

/** Answer 200 of `POST /api/v1/account/email-change/confirm`. */
export const EmailChangedResponse = Success(
  Type.Object({
    message: Type.Literal('EMAIL_CHANGED'),
    email: Type.String(),
    sessions_ended: Type.Integer({ minimum: 0, description: 'Number of sessions that the change has ended.' }),
    timestamp: Timestamp,
  }),
);
export type EmailChangedResponse = Type.Static<typeof EmailChangedResponse>;

/** Body of `POST /api/v1/auth/email-change/undo`. */
export const UndoEmailChangeRequest = Type.Object({ undo_token: Type.String({ minLength: 1, maxLength: 512 }) });
export type UndoEmailChangeRequest = Type.Static<typeof UndoEmailChangeRequest>;

/** Answer 200 of `POST /api/v1/auth/email-change/undo`. */
export const EmailChangeUndoneResponse = Success(
  Type.Object({ message: Type.Literal('EMAIL_CHANGE_UNDONE'), invites_revoked: InvitesRevoked, timestamp: Timestamp }),
);
export type EmailChangeUndoneResponse = Type.Static<typeof EmailChangeUndoneResponse>;

const timestamp = '2026-11-20T10:02:00.000Z';

export const emailChangeExamples = {
  change: {
    summary: 'A new email address',
    value: { current_password: 'correct horse battery', new_email: 'chef@example.com' },
  },
} satisfies Record<string, { summary: string; value: EmailChangeRequest }>;

export const emailChangedExample = {
  status: 'success',
  data: { message: 'EMAIL_CHANGED', email: 'chef@example.com', sessions_ended: 1, timestamp },
} satisfies EmailChangedResponse;

export const undoEmailChangeExamples = {
  // Shortened, because examples contain no real tokens.
  token: { summary: 'The token of the mail', value: { undo_token: 'ZG9jdW1lbnRhdGlvbi1vbmx5' } },
} satisfies Record<string, { summary: string; value: UndoEmailChangeRequest }>;

export const emailChangeUndoneExample = {
  status: 'success',
  data: { message: 'EMAIL_CHANGE_UNDONE', invites_revoked: 1, timestamp },
} satisfies EmailChangeUndoneResponse;
