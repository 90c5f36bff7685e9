import { useWords } from '../words/speech.ts';
import { CodeForm } from './code-form.tsx';
import type { Phone } from './phone.ts';
import type { PhoneView } from './phone-view.ts';

/** The account's passkeys, and its second factor. */
export function SecurityView({ view, phone }: { readonly view: PhoneView; readonly phone: Phone }) {
  const { phone: words } = useWords();
  const button = (text: string, onPress: () => Promise<void>) => (
    <button type="button" disabled={view.isBusy} onClick={() => void onPress()}>
      {text}
    </button>
  );
  return (
    <>
      <h3>{words.passkeys}</h3>
      <ul className="people" aria-label={words.passkeys}>
        {view.passkeys.map(({ passkey_id, name }) => (
          <li key={passkey_id}>
            {name ?? '?'}
            {button(words.remove, () => phone.removePasskey(passkey_id))}
          </li>
        ))}
      </ul>
      {button(words.addPasskey, phone.addPasskey)}
      {view.identities.length > 0 && <h3>{words.identities}</h3>}
      <ul className="people" aria-label={words.identities}>
        {view.identities.map(({ identity_id, email }) => (
          <li key={identity_id}>
            {email ?? '?'}
            {button(words.remove, () => phone.removeIdentity(identity_id))}
          </li>
        ))}
      </ul>
      <h3>{words.secondFactor}</h3>
      {view.enrolment && <CodeForm view={view} phone={phone} />}
      {view.authenticator === undefined
        ? view.enrolment === undefined && button(words.switchOn, phone.addAuthenticator)
        : button(words.switchOff, phone.removeAuthenticator)}
    </>
  );
}
