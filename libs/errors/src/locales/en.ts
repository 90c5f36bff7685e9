import type { Messages } from './messages.ts';

/** English. */
export const en: Messages = {
  IAD_AUTH_EMAIL_DUPLICATE: {
    message: 'This e-mail address is already registered.',
    action: 'Log in with this address, or register with another one.',
  },
  IAD_JWT_REFRESH_STOLEN: {
    message: 'Your session has ended.',
    action: 'Log in again.',
    variants: {
      reason: {
        logged_out: {
          message: 'This session has ended: you have logged out.',
          action: 'Log in again.',
        },
        revoked: {
          message: 'This session was ended from another device.',
          action: 'Log in again.',
        },
        replaced: {
          message: 'This session has ended: there is a newer login on this device.',
          action: 'Log in again.',
        },
        session_limit: {
          message: 'This session has ended: you are logged in on too many devices.',
          action: 'Log in again. Log out on devices that you no longer use.',
        },
        forced: {
          message: 'This session was ended by the service.',
          action: 'Log in again.',
        },
        password_changed: {
          message: 'This session has ended: the password was changed.',
          action: 'Log in again. Use the new password.',
        },
        account_disabled: {
          message: 'This session has ended: the account is disabled.',
          action: 'Contact support if you think that this is a mistake.',
        },
        account_deleted: {
          message: 'This session has ended: the account is going to be deleted.',
          action: 'Log in again. Until the deletion you can keep the account.',
        },
        reused: {
          message: 'You have been logged out to protect your account.',
          action: 'Log in again. If you think that someone else used your account, log out on all devices.',
        },
      },
    },
  },
  IAD_JWT_ACCESS_INVALID: {
    message: 'Your login could not be confirmed.',
    action: 'The app renews it by itself. If you keep seeing this message, log in again.',
  },
  IAD_JWT_ACCESS_EXPIRED: {
    message: 'Your login needs to be renewed.',
    action: 'The app renews it by itself. If you keep seeing this message, log in again.',
  },
  IAD_JWT_REFRESH_EXPIRED: {
    message: 'Your login has expired.',
    action: 'Log in again.',
  },
  IAD_GROUP_ALREADY_MEMBER: {
    message: 'You already belong to a family or an office.',
    action: 'Leave your current group first if you want to join another one.',
  },
  IAD_GROUP_INVITE_EXPIRED: {
    message: 'This invite has expired.',
    action: 'Ask the group leader for a new invite.',
  },
  MDM_RECIPE_NOT_FOUND: {
    message: 'This recipe no longer exists.',
    action: 'Go back to the cookbook and choose another recipe.',
  },
  MDM_RECIPE_INTEGRITY_BROKEN: {
    message: 'This recipe cannot be cooked: some of its ingredients are missing from the catalogue.',
    action: 'Choose another recipe. We have been told about the problem.',
  },
  MDM_BARCODE_UNKNOWN: {
    message: 'We do not know this barcode yet.',
    action: 'We are looking the product up. Try again later or enter it by hand.',
  },
  MDM_CATALOG_DESYNC: {
    message: 'The product catalogue is being loaded.',
    action: 'The pantry opens again as soon as it is ready. Please wait a little.',
  },
  INV_STOCK_INSUFFICIENT_OFFICE: {
    message: 'There is not enough of this product in stock.',
    action: 'Enter a smaller amount or add the missing product to the stock first.',
  },
  INV_STOCK_MASKED_MINUS: {
    message: 'You used more than was in stock; the stock is shown as 0.',
    action: 'Add the product when you have bought it, and the stock will be right again.',
  },
  INV_MERGE_RACE_CONDITION: {
    message: 'Some of the chosen products have been used or changed meanwhile.',
    action: 'The fridge has been refreshed. Choose the products again.',
  },
  INV_ITEM_EXPIRED_LOCK: {
    message: 'This product is past its use-by date.',
    action: 'Cook with another pack and discard this one.',
  },
  INV_DATABASE_ROW_LOCKED: {
    message: 'Someone else is changing this stock right now.',
    action: 'The app tries again by itself. Please wait a moment.',
  },
  INV_PARTNER_WEBHOOK_UNAUTHORIZED: {
    message: 'The shop could not be recognised.',
    action: 'Connect the shop again in its settings or renew its token.',
  },
  INV_PARTNER_PAYLOAD_MALFORMED: {
    message: 'The receipt from the shop could not be read.',
    action: 'Check that the shop and the items of the receipt belong together, then send it again.',
  },
  INV_WASTE_REASON_INVALID: {
    message: 'This reason for discarding is not allowed.',
    action: 'Choose one of the allowed reasons: PROPALO or SPOILT.',
  },
  AID_GPU_VRAM_OVERFLOW: {
    message: 'The assistant is very busy at the moment.',
    action: 'Your task is waiting in line and will be done soon. There is nothing you need to do.',
  },
  AID_VISION_OCR_UNREADABLE: {
    message: 'The text on the receipt could not be read.',
    action: 'Take the photo again in good light, with the whole receipt flat and in focus.',
  },
  AID_VISION_YOLO_LOW_CONF: {
    message: 'We are not sure what is in the photo.',
    action: 'A person will look at the draft. You can also enter the product by hand.',
  },
  AID_SPEECH_STT_CORRUPTED: {
    message: 'The recording was interrupted.',
    action: 'Please dictate it again.',
  },
  AID_CENSOR_PROFANITY_VIOLATION: {
    message: 'Your session was ended because of repeated offensive language.',
    action: 'Log in again and keep to the rules of communication.',
  },
  AID_LLM_INVALID_STRUCTURE: {
    message: 'The assistant could not give a usable answer.',
    action: 'Try again in a moment or put your question in other words.',
  },
  AID_STREAM_FRAME_DROP: {
    message: 'The connection is too weak for live video.',
    action: 'The camera switches to single photos. Point it at the product and take a picture.',
  },
  AFF_CACHE_POOL_EXHAUSTED: {
    message: 'Shopping hints are not available right now.',
    action: 'Go on with your list; the hints come back by themselves.',
  },
  AFF_DECAY_TARGET_MISSING: {
    message: 'The shopping forecast could not be updated.',
    action: 'You can use the app as usual. We are working on it.',
  },
  AFF_MATH_INVALID_MATRIX: {
    message: 'The suggestions for your group could not be calculated.',
    action: 'They start afresh and will fit you again as you use the app.',
  },
  AFF_SUGGESTION_EMPTY_CONTEXT: {
    message: 'There are no suggestions without a group.',
    action: 'Open your family or office and try again.',
  },
  PMA_TRACE_ID_MISSING: {
    message: 'The request carries no request identifier.',
    action: 'Send the header X-Request-ID, or update the app.',
  },
  PMA_LOKI_QUERY_TIMEOUT: {
    message: 'The log search took too long.',
    action: 'Try again, or search a shorter period.',
  },
  PMA_BUPAR_INTEGRITY_VIOLATION: {
    message: 'The process map cannot be shown: the event log has gaps.',
    action: 'Use the other views meanwhile. We have been told about the problem.',
  },
  PMA_SSE_STREAM_ABORTED: {
    message: 'The live log was closed.',
    action: 'Open it again to go on reading.',
  },
  PMA_COLLECTOR_PIPE_BLOCKED: {
    message: 'Live logs are switched off because the log storage is full.',
    action: 'Free space in the log storage, then switch live logs on again.',
  },
  'ERR-EMAIL-ALREADY-EXISTS': {
    message: 'This e-mail address is already registered.',
    action: 'Log in with this address, or register with another one.',
  },
  'ERR-INVITE-TOKEN-INVALID': {
    message: 'This invite is not valid.',
    action: 'Check the code, or ask the group leader for a new invite.',
  },
  'ERR-LOGOUT-TARGET-NOT-FOUND': {
    message: 'This session has already ended.',
    action: 'Nothing more needs to be done: you are logged out. Log in when you want to come back.',
  },
  'ERR-VALIDATION-FAILED': {
    message: 'Some of the entries are not right.',
    action: 'Correct the marked fields and send them again.',
  },
  'ERR-INVALID-CREDENTIALS': {
    message: 'The e-mail address or the password is not right.',
    action: 'Check both and try again.',
  },
  'ERR-REAUTHENTICATION-FAILED': {
    message: 'This is not your password.',
    action: 'Enter your current password again.',
  },
  'ERR-ACCOUNT-DISABLED': {
    message: 'This account is disabled.',
    action: 'Contact support if you think that this is a mistake.',
  },
  'ERR-ACCOUNT-DELETION-SCHEDULED': {
    message: 'This account is going to be deleted.',
    action: 'Restore it if you want to keep it.',
  },
  'ERR-EMAIL-NOT-VERIFIED': {
    message: 'Your e-mail address is not confirmed yet.',
    action: 'Enter the code that we have sent you by e-mail.',
  },
  'ERR-CODE-INVALID': {
    message: 'This code is not valid.',
    action: 'Check the code of the newest e-mail, or ask for a new one.',
  },
  'ERR-CODE-EXPIRED': {
    message: 'This step took too long.',
    action: 'Begin it again, with a new code if you got one.',
  },
  'ERR-SECOND-FACTOR-REQUIRED': {
    message: 'Your account asks for a second step.',
    action: 'Enter the code of your authenticator app, or use another of your ways.',
  },
  'ERR-SECOND-FACTOR-INVALID': {
    message: 'This second step did not work.',
    action: 'Enter the newest code, or use another of your ways.',
  },
  'ERR-STEP-UP-REQUIRED': {
    message: 'Please confirm that it is you.',
    action: 'Confirm it in the app, then try again.',
  },
  'ERR-PASSKEY-INVALID': {
    message: 'This passkey does not work here.',
    action: 'Use another passkey or another way to log in.',
  },
  'ERR-PASSKEY-EXISTS': {
    message: 'This passkey is already added.',
    action: 'Reload the list of your passkeys.',
  },
  'ERR-PASSKEY-NOT-FOUND': {
    message: 'You have no such passkey.',
    action: 'Reload the list of your passkeys.',
  },
  'ERR-PASSKEY-LIMIT-REACHED': {
    message: 'You have as many passkeys as possible.',
    action: 'Remove one that you no longer use.',
  },
  'ERR-IDENTITY-TOKEN-INVALID': {
    message: 'The sign-in at the provider does not count.',
    action: 'Sign in there again.',
  },
  'ERR-IDENTITY-DISABLED': {
    message: 'Your account at the provider is disabled.',
    action: 'Log in another way, or reset your password.',
  },
  'ERR-IDENTITY-ADDRESS-REQUIRED': {
    message: 'The provider has not shared an e-mail address that works here.',
    action: 'Share your address there, or register with an address.',
  },
  'ERR-REGISTRATION-REQUIRED': {
    message: 'You have no account yet.',
    action: 'Create one, or log in another way.',
  },
  'ERR-ACCOUNT-LINK-REQUIRED': {
    message: 'You have an account with this e-mail address.',
    action: 'Show once that it is yours; then both are linked.',
  },
  'ERR-IDENTITY-IN-USE': {
    message: 'Another account is linked with it.',
    action: 'Choose another one, or log in with it.',
  },
  'ERR-IDENTITY-NOT-FOUND': {
    message: 'Your account is not linked with it.',
    action: 'Reload the list.',
  },
  'ERR-IDENTITY-LIMIT-REACHED': {
    message: 'Your account is linked with as many as possible.',
    action: 'Remove one that you no longer use.',
  },
  'ERR-LAST-CREDENTIAL': {
    message: 'This is your last way to log in.',
    action: 'Add another way first.',
  },
  'ERR-GROUP-OWNER-REQUIRED': {
    message: 'Only the owner of the group can do this.',
    action: 'Ask the owner of your group to do it.',
  },
  'ERR-GROUP-MEMBER-NOT-FOUND': {
    message: 'This person is not in your group.',
    action: 'Reload the list of members.',
  },
  'ERR-INVITE-LIMIT-REACHED': {
    message: 'Your group has too many open invites.',
    action: 'Revoke an invite that is no longer needed.',
  },
  'ERR-STREAM-SESSION-MISMATCH': {
    message: 'Live updates belong to another login.',
    action: 'Restart the app. If that does not help, log in again.',
  },
  'ERR-IDEMPOTENCY-KEY-REUSED': {
    message: 'This request was already sent with other data.',
    action: 'Check your entries and send them again as a new request.',
  },
  'ERR-UNSUPPORTED-MEDIA-TYPE': {
    message: 'The request has the wrong format.',
    action: 'Send the header Content-Type: application/json, or update the app.',
  },
  'ERR-PAYLOAD-TOO-LARGE': {
    message: 'The request is too large.',
    action: 'Shorten your entries and send them again.',
  },
  'ERR-ROUTE-NOT-FOUND': {
    message: 'There is nothing at this address.',
    action: 'Check the address, or update the app.',
  },
  'ERR-METHOD-NOT-ALLOWED': {
    message: 'This address does not support the requested action.',
    action: 'Use one of the methods in the header Allow, or update the app.',
  },
  'ERR-RATE-LIMITED': {
    message: 'Too many attempts.',
    action: 'Wait a little and try again.',
  },
  'ERR-INTERNAL': {
    message: 'Something went wrong on our side.',
    action: 'Try again later. If it happens again, contact support.',
  },
  'ERR-OVERLOADED': {
    message: 'The service is very busy right now.',
    action: 'Wait a moment and try again.',
  },
  'ERR-DEPENDENCY-UNAVAILABLE': {
    message: 'The service is not available for a moment.',
    action: 'Wait a moment and try again.',
  },
};
