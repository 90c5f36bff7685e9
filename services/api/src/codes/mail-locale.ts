import type { Locale } from '@auth-account/contracts/events';
import type { UserDocument } from '@auth-account/stores/documents';
import type { RequestOrigin } from '../request/request-origin.ts';

/** Returns the language of a mail: the user's, or else the one that the client asks for. */
export function mailLocale(user: Pick<UserDocument, 'locale'> | undefined, { locale }: RequestOrigin): Locale {
  return user?.locale ?? locale ?? 'en';
}
