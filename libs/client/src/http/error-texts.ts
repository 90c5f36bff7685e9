type Texts = Readonly<Record<string, readonly [en: string, ru: string]>>;

const noAnswer = ['No connection. Try again later.', 'Нет связи. Попробуйте позже.'] as const;
const fault = ['Something went wrong.', 'Что-то пошло не так.'] as const;

/**
 * The client's own codes, which the service never returns, and their texts for people.
 *
 * - `CLIENT_NETWORK`: no answer came. `CLIENT_TIMEOUT`: no answer came in time.
 * - `CLIENT_UNEXPECTED_ANSWER`: the answer did not come from the service. It may be a captive portal's page.
 * - `CLIENT_SIGNED_OUT`: there is no session. `CLIENT_SUPERSEDED`: a later login or logout has overtaken the call.
 * - `CLIENT_STATE_UNKNOWN`: the storage can't be read now.
 * - `CLIENT_FOREIGN_URL`: the URL is not among the services that may get the access token.
 * - `CLIENT_CLOSED`: the client was closed.
 */
export const clientTexts = {
  CLIENT_NETWORK: noAnswer,
  CLIENT_TIMEOUT: noAnswer,
  CLIENT_UNEXPECTED_ANSWER: noAnswer,
  CLIENT_STATE_UNKNOWN: ['The data on this device can’t be read.', 'Данные на устройстве не читаются.'],
  CLIENT_SIGNED_OUT: ['Please log in.', 'Войдите в аккаунт.'],
  CLIENT_SUPERSEDED: ['This was cancelled. Try again.', 'Отменено. Попробуйте ещё раз.'],
  CLIENT_FOREIGN_URL: fault,
  CLIENT_CLOSED: fault,
} as const satisfies Texts;

/**
 * Codes that only the group `passkeys` raises.
 *
 * - `CLIENT_PASSKEY_DISMISSED`: the user or a later call has ended the choice of a passkey.
 * - `CLIENT_PASSKEY_FAILED`: the platform has no passkeys, or has failed.
 * - `ERR-PASSKEY-EXISTS`: the device itself may say so, before the service does.
 */
export const passkeyTexts = {
  CLIENT_PASSKEY_DISMISSED: ['No passkey was used.', 'Ключ доступа не использован.'],
  CLIENT_PASSKEY_FAILED: ['Passkeys don’t work here.', 'Ключи доступа здесь не работают.'],
  'ERR-PASSKEY-EXISTS': ['This passkey is already added.', 'Этот ключ доступа уже добавлен.'],
} as const satisfies Texts;

/** `CLIENT_PROOF_REFUSED`, which only `boundKey` raises: the service refuses the proof of the device's key. */
export const boundKeyTexts = { CLIENT_PROOF_REFUSED: fault } as const satisfies Texts;

/** Every code that the client raises itself. */
export type RaisedCode = keyof typeof clientTexts | keyof typeof passkeyTexts | keyof typeof boundKeyTexts;

const texts: Record<string, readonly [en: string, ru: string]> = { ...clientTexts };
let language: () => string | undefined = () => undefined;

/** Adds the texts of a group. */
export function addTexts(added: Texts): void {
  Object.assign(texts, added);
}

/** Sets the language of the texts. If a program has several clients, the latest sets it for all. */
export function speak(own: () => string | undefined): void {
  language = own;
}

/**
 * Returns the text of a code that the client raises, in the first language of the list that it has, else in English.
 * Returns any other code as it is.
 */
export function textOf(code: string): string {
  const [en, ru] = texts[code] ?? [code, code];
  return /r/i.test(/(^|[\s,])(en|ru)\b/i.exec(language() ?? '')?.[2] ?? '') ? ru : en;
}
