import * as Type from '../type.ts';
import { Timestamp, Uuid } from './fields.ts';

/** An identity at a provider, as its owner sees it. */
export const Identity = Type.Object({
  identity_id: Uuid,
  provider: Type.String(),
  email: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'The email address that the provider named when the identity was linked.',
  }),
  relay_off: Type.Boolean({ description: 'The provider forwards no mail that is sent to this email address.' }),
  disabled: Type.Boolean({ description: 'The provider has disabled its account, so the identity opens no session.' }),
  created_at: Timestamp,
});
export type Identity = Type.Static<typeof Identity>;
