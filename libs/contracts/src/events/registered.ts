import { AccountType, Timestamp, Uuid } from '../http/fields.ts';
import { SpaceCreationMode } from '../http/register.ts';
import * as Type from '../type.ts';
import { CloudEvent } from './cloud-event.ts';

/** Topic of the registration event, which is its CloudEvent `type` (docs/events.md). */
export const registeredTopic = 'service.auth.events.registered';

/** `data` of the registration event: no e-mail, no other personal data. */
export const RegisteredData = Type.Object({
  user_id: Uuid,
  home_group_id: Uuid,
  account_type: AccountType,
  space_creation_mode: SpaceCreationMode,
  is_new_group: Type.Boolean(),
  registered_at: Timestamp,
});
export type RegisteredData = Type.Static<typeof RegisteredData>;

/**
 * The registration event as a CloudEvents 1.0 JSON envelope. It has this shape in the outbox, on the queues and in
 * webhooks.
 */
export const RegisteredEvent = CloudEvent(registeredTopic, RegisteredData);
export type RegisteredEvent = Type.Static<typeof RegisteredEvent>;
