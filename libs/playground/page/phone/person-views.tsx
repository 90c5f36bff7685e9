import type { WaitingPerson } from '@auth-account/client/federated';
import { Field } from '@auth-account/page/field.tsx';
import { Form } from '@auth-account/page/form.tsx';
import { useRef } from 'react';
import { useWords } from '../words/speech.ts';
import type { Phone } from './phone.ts';
import { callbackPath } from './phone-people.ts';
import type { PhoneView } from './phone-view.ts';
import { SpaceFields } from './space-fields.tsx';

/** The provider's page, as the browser that a phone's app opens shows it. */
export function ProviderPage({ address, phone }: { readonly address: string; readonly phone: Phone }) {
  const { phone: words } = useWords();
  const frame = useRef<HTMLIFrameElement>(null);
  function look(): void {
    const { pathname, hash } = frame.current?.contentWindow?.location ?? {};
    if (pathname === callbackPath) phone.takePerson(hash?.slice(1));
  }
  return (
    <>
      <iframe ref={frame} className="provider" title={words.providerPage} src={address} onLoad={look} />
      <p className="links">
        <button type="button" className="link" onClick={() => phone.takePerson()}>
          {words.closePage}
        </button>
      </p>
    </>
  );
}

interface PersonFormProps {
  readonly person: WaitingPerson;
  readonly view: PhoneView;
  readonly phone: Phone;
}

/** The form in which a person whom the provider has named gives what is missing. */
export function PersonForm({ person, view, phone }: PersonFormProps) {
  const { phone: words } = useWords();
  return (
    <>
      {person.needs === 'registration' ? (
        <Form isBusy={view.isBusy} action={words.register} onSubmit={phone.registerPerson}>
          <SpaceFields view={view} phone={phone} />
        </Form>
      ) : (
        <Form isBusy={view.isBusy} action={words.linkAndLogIn} onSubmit={phone.linkPerson}>
          <Field label={words.password} value={view.password} onChange={(password) => phone.type({ password })} />
        </Form>
      )}
      <p className="links">
        <button type="button" className="link" onClick={phone.giveUpPerson}>
          {words.giveUp}
        </button>
      </p>
    </>
  );
}
