import * as account from '../http/account.ts';
import * as accountExport from '../http/account-export.ts';
import * as challenges from '../http/challenges.ts';
import * as deletion from '../http/deletion.ts';
import * as emailChange from '../http/email-change.ts';
import * as emailVerification from '../http/email-verification.ts';
import { ErrorBody, ErrorDetails, ValidationErrorBody, ValidationItem } from '../http/error-body.ts';
import * as federated from '../http/federated.ts';
import { AccountType } from '../http/fields.ts';
import * as groups from '../http/groups.ts';
import { Identity } from '../http/identity.ts';
import * as invites from '../http/invites.ts';
import { JsonWebKey, JsonWebKeySet } from '../http/jwks.ts';
import * as login from '../http/login.ts';
import * as loginCode from '../http/login-code.ts';
import * as logout from '../http/logout.ts';
import { ServerMetadata } from '../http/metadata.ts';
import * as passkeyCredentials from '../http/passkey-credentials.ts';
import * as passkeys from '../http/passkeys.ts';
import * as passwordReset from '../http/password-reset.ts';
import * as refresh from '../http/refresh.ts';
import * as register from '../http/register.ts';
import * as revocations from '../http/revocations.ts';
import * as secondFactor from '../http/second-factor.ts';
import * as secondFactorRemoval from '../http/second-factor-removal.ts';
import * as providerNotice from '../http/security-event-token.ts';
import * as sessions from '../http/sessions.ts';
import * as stepUp from '../http/step-up.ts';
import { AppleAppSiteAssociation, AssetLinks, RelatedOrigins } from '../http/well-known.ts';
import type { TSchema } from '../type.ts';

/** Files of the features. The schemas that they export as `…Request` and `…Response` get a name in the document. */
const features = [
  register,
  login,
  loginCode,
  refresh,
  logout,
  sessions,
  passkeys,
  federated,
  providerNotice,
  account,
  accountExport,
  deletion,
  challenges,
  passwordReset,
  emailVerification,
  emailChange,
  secondFactor,
  secondFactorRemoval,
  stepUp,
  groups,
  invites,
  revocations,
];

const bodies = features.flatMap((feature) =>
  Object.entries(feature).filter(([name]) => /^[A-Z].*(Request|Response)$/.test(name)),
) as [string, TSchema][];

/** Schemas that the document lists under a name. Wherever such a schema occurs, the document has a reference to it. */
export const namedSchemas: Readonly<Record<string, TSchema>> = {
  ...Object.fromEntries(bodies),
  SessionSummary: sessions.SessionSummary,
  GroupMember: groups.GroupMember,
  Invite: invites.Invite,
  Identity,
  EventTokenRefusal: providerNotice.EventTokenRefusal,
  ...passkeyCredentials,
  JsonWebKeySet,
  JsonWebKey,
  ServerMetadata,
  AppleAppSiteAssociation,
  AssetLinks,
  RelatedOrigins,
  AccountType,
  GroupRole: groups.GroupRole,
  StockDeficit: groups.StockDeficit,
  SpaceCreationMode: register.SpaceCreationMode,
  Platform: login.Platform,
  ErrorBody,
  ErrorDetails,
  ValidationErrorBody,
  ValidationItem,
};
