import { Uuid } from '../http/fields.ts';
import * as Type from '../type.ts';

/** BullMQ queue of the forced-logout command (docs/specification/logout.md, "Forced logouts"). */
export const forceLogoutQueue = 'service.auth.commands.force-logout';

/** Reason for ending the sessions, for the logs. It has no personal data and is never shown to the user. */
const reason = Type.String({ minLength: 1, maxLength: 256 });

/** Request that caused the command. */
const request_id = Type.Optional(Type.String({ minLength: 1, maxLength: 128 }));

/** Ends all sessions of one user. */
const ForceLogoutOfUser = Type.Object({ user_id: Uuid, reason, request_id });

/** Ends one session. */
const ForceLogoutOfSession = Type.Object({ session_id: Uuid, reason, request_id });

/** Ends the sessions of all members of a group. */
const ForceLogoutOfGroup = Type.Object({ home_group_id: Uuid, reason, request_id });

/** Forms of the command by their target. A command has exactly one of these fields. */
export const forceLogoutForms = {
  user_id: ForceLogoutOfUser,
  session_id: ForceLogoutOfSession,
  home_group_id: ForceLogoutOfGroup,
} as const;
export type ForceLogoutTarget = keyof typeof forceLogoutForms;

/** A job of the queue. Other fields are ignored. */
export type ForceLogoutCommand =
  | Type.Static<typeof ForceLogoutOfUser>
  | Type.Static<typeof ForceLogoutOfSession>
  | Type.Static<typeof ForceLogoutOfGroup>;
