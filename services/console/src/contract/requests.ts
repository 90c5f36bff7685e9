import * as Type from '@auth-account/contracts/type';
import { type ActionName, actionNames } from './roles.ts';

/** Header of the token that `Me` has, for every request that is no GET. */
export const tokenHeader = 'x-console-token';

/** Header of the reason for which personal data is looked at or changed, percent-encoded UTF-8. */
export const reasonHeader = 'x-console-reason';

/** Body of `POST /api/find`. */
export const FindRequest = Type.Object(
  { text: Type.String({ minLength: 1, maxLength: 320 }) },
  { additionalProperties: false },
);
export type FindRequest = Type.Static<typeof FindRequest>;

/** A name that may go into the audit log: no email address is one. */
const logged = '^[\\w.:~/+=-]+$';

const target = {
  action: Type.Enum(actionNames as [ActionName, ...ActionName[]]),
  /** Id of the account, session, invite (`ref`) or event, or the name of the subscriber. */
  target: Type.String({ maxLength: 128, pattern: logged }),
  options: Type.Optional(
    Type.Object(
      {
        /** `deletion.order`: days until the erasure. */
        grace_days: Type.Optional(Type.Integer({ minimum: 0, maximum: 30 })),
        /** `methods.remove`: only this kind. */
        only: Type.Optional(Type.Enum(['passkeys', 'identities'])),
        /** `event.replay`, `dead_letter.discard`: only for this subscriber. */
        subscriber: Type.Optional(Type.String({ maxLength: 64, pattern: logged })),
        /** `invite.revoke`: the invite's group. */
        group_id: Type.Optional(Type.String({ maxLength: 64, pattern: logged })),
      },
      { additionalProperties: false },
    ),
  ),
};

/** Body of `POST /api/plans`. */
export const PlanRequest = Type.Object(target, { additionalProperties: false });
export type PlanRequest = Type.Static<typeof PlanRequest>;

/** Body of `POST /api/actions`. `digest`: the plan's, so that only what was confirmed is done. */
export const ActionRequest = Type.Object(
  { ...target, digest: Type.String({ minLength: 1, maxLength: 128 }) },
  { additionalProperties: false },
);
export type ActionRequest = Type.Static<typeof ActionRequest>;

/** Body of `POST /api/consents/{id}/give`. */
export const GiveRequest = Type.Object(
  { digest: Type.String({ minLength: 1, maxLength: 128 }) },
  { additionalProperties: false },
);
export type GiveRequest = Type.Static<typeof GiveRequest>;
