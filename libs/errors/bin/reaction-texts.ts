import type { ReactionType } from '../src/catalogue/row.ts';

/** The behaviour of an app on each reaction to an error of this service, as Markdown for docs/errors.md. */
export const reactionTexts: Partial<Record<ReactionType, string>> = {
  REFRESH_AND_RETRY: 'refreshes and repeats the request once. The user sees nothing',
  CLEAR_STORAGE_AND_LOGIN:
    "after a refresh or its own logout: deletes the session (unless it has a newer one), shows the login screen with `message`. After a request to end *another* device's session: keeps its own",
  LOGIN: 'deletes the session, shows the login screen',
  RETRY_WITH_BACKOFF: 'repeats after `Retry-After`, then with growing pauses and jitter. The session is still open',
  REPORT: 'shows a general error, reports it with the `X-Request-ID`',
  FIX_REQUEST: 'has a bug or is too old: reports it',
  INJECT_TRACE_ID: 'has a bug: it sent no `X-Request-ID`',
  USE_NEW_IDEMPOTENCY_KEY:
    'sends the changed request under a new key. When registering, see [Registering](apps.md#registering)',
  RECONNECT_WITH_OWN_SESSION: "has a bug: it must open the stream of the token's session",
  FIX_INPUT: 'marks each field that `details` names',
  HIGHLIGHT_EMAIL_FIELD: "marks the email address as taken, but [it may be the user's own](apps.md#registering)",
  CHECK_CREDENTIALS: 'lets the user correct email address and password, without saying which is wrong',
  ASK_PASSWORD: 'asks for the password again. The session stays open, and no refresh is needed',
  ASK_SECOND_FACTOR: 'asks for one of `methods`, confirms it with `challenge_id`. With `tries_left: 0` it says to wait',
  STEP_UP:
    'lets the user [step up](specification/sign-in.md#step-up), for a 401 of a resource server with purpose `session`, then repeats the request. A refresh does not help',
  CHECK_PASSKEY:
    'offers another sign-in method. With `unknown_credential` it lets the authenticator drop the passkey (`signalUnknownCredential`)',
  ASK_PROVIDER_AGAIN: 'asks the provider for a new token, with a new challenge',
  OFFER_OTHER_WAY: 'offers another sign-in method, or a reset of the password',
  PROVE_ACCOUNT: 'asks for one of `methods`, and [links](specification/sign-in.md#providers) with `link_challenge_id`',
  SHOW_REGISTRATION: 'shows the registration, and sends the same token with `space_creation_mode`',
  ADD_WAY_TO_SIGN_IN: 'lets the user add another sign-in method first',
  ASK_CODE: 'asks for the code from the mail. With `tries_left: 0`, or if the mail is gone, offers a new one',
  REQUEST_NEW_CODE: 'offers a new code, or begins the step anew',
  REGISTER_WITH_ADDRESS: 'offers a registration with an email address',
  CONTACT_SUPPORT: 'says that the account is disabled and whom to ask',
  OFFER_RESTORE: 'says when the account will be deleted, and offers to keep it',
  CHECK_INVITE: 'lets the user correct the code or ask for another invite',
  REQUEST_NEW_INVITE: 'asks for a new invite',
  LEAVE_GROUP_MODAL:
    'asks whether to leave the current group, then accepts with `leave_current_group`. If it had sent that, it refreshes: an earlier try has moved the user',
  ASK_GROUP_OWNER: 'says that only the owner of the group can do this',
  REFRESH_SCREEN_AND_RESELECT: 'reads the list again',
  REVOKE_INVITE: 'shows the invites, so that the user can revoke one first',
};
