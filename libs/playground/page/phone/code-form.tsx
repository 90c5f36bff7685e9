import { Field } from '@auth-account/page/field.tsx';
import { Form } from '@auth-account/page/form.tsx';
import { useEffect, useState } from 'react';
import { useWords } from '../words/speech.ts';
import { type AuthenticatorEntry, codeOf, nextStep } from './authenticator.ts';
import type { Phone } from './phone.ts';
import type { PhoneView } from './phone-view.ts';

/** The field for a code of the authenticator app, under the app itself if this phone has it. */
export function CodeForm({ view, phone }: { readonly view: PhoneView; readonly phone: Phone }) {
  const { phone: words } = useWords();
  const entry = view.enrolment ?? view.authenticator;
  return (
    <>
      {entry && <AuthenticatorApp entry={entry} isBusy={view.isBusy} onTake={phone.takeCode} />}
      <Form isBusy={view.isBusy} action={words.confirm} onSubmit={phone.confirmCode}>
        <Field label={words.appCode} value={view.code} inputMode="numeric" onChange={(code) => phone.type({ code })} />
      </Form>
    </>
  );
}

interface AuthenticatorAppProps {
  readonly entry: AuthenticatorEntry;
  readonly isBusy: boolean;
  readonly onTake: () => Promise<void>;
}

/** An authenticator app, such as people have beside the app: its secret, and its next code. */
function AuthenticatorApp({ entry, isBusy, onTake }: AuthenticatorAppProps) {
  const { phone: words } = useWords();
  const code = useCode(entry);
  return (
    <div className="invite">
      <h3>{words.authenticator}</h3>
      <code>{entry.secret}</code>
      <button type="button" disabled={isBusy} onClick={() => void onTake()}>
        {words.takeCode(code)}
      </button>
    </div>
  );
}

/** Returns the code that the app shows now. */
function useCode(entry: AuthenticatorEntry): string {
  const [code, setCode] = useState('');
  useEffect(() => {
    const show = () => void codeOf(entry, nextStep(entry, Date.now())).then(setCode);
    show();
    const timer = setInterval(show, 1_000);
    return () => clearInterval(timer);
  }, [entry]);
  return code;
}
