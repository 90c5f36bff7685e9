import { Field } from '@auth-account/page/field.tsx';
import { Form } from '@auth-account/page/form.tsx';
import { useWords } from '../words/speech.ts';
import { CodeForm } from './code-form.tsx';
import { PersonForm, ProviderPage } from './person-views.tsx';
import type { Phone } from './phone.ts';
import type { PhoneView } from './phone-view.ts';
import { SpaceFields } from './space-fields.tsx';

interface ScreenProps {
  readonly view: PhoneView;
  readonly phone: Phone;
}

/** The screen with registration, login with its second step, and the forgotten password. */
export function SignedOutScreen({ view, phone }: ScreenProps) {
  const { phone: words } = useWords();
  if (view.isAwaitingFactor) {
    return (
      <div className="screen">
        <CodeForm view={view} phone={phone} />
        <p className="links">
          <button type="button" className="link" onClick={phone.giveUpLogin}>
            {words.giveUp}
          </button>
          <button type="button" className="link" disabled={view.isBusy} onClick={() => void phone.askRemoval()}>
            {words.lostApp}
          </button>
        </p>
      </div>
    );
  }
  if (view.providerPage !== undefined || view.person !== undefined) {
    return (
      <div className="screen">
        {view.person && <PersonForm person={view.person} view={view} phone={phone} />}
        {view.providerPage !== undefined && <ProviderPage address={view.providerPage} phone={phone} />}
      </div>
    );
  }
  const link = (text: string, screen: 'register' | 'log_in' | 'forgot') => (
    <button type="button" className="link" onClick={() => void phone.show(screen)}>
      {text}
    </button>
  );
  return (
    <div className="screen">
      {view.screen === 'register' && <RegisterForm view={view} phone={phone} />}
      {view.screen === 'forgot' && <ForgotForm view={view} phone={phone} />}
      {view.screen === 'lost_app' && (
        <Form isBusy={view.isBusy} action={words.orderRemoval} onSubmit={phone.orderRemoval}>
          <Field label={words.code} value={view.code} inputMode="numeric" onChange={(code) => phone.type({ code })} />
        </Form>
      )}
      {!['register', 'forgot', 'lost_app'].includes(view.screen) && <LogInForm view={view} phone={phone} />}
      <p className="links">
        {view.screen !== 'register' && link(words.newAccount, 'register')}
        {view.screen !== 'log_in' && link(words.haveAccount, 'log_in')}
        {view.screen === 'log_in' && link(words.forgot, 'forgot')}
        {view.screen === 'log_in' && (
          <button type="button" className="link" disabled={view.isBusy} onClick={() => void phone.logInByPasskey()}>
            {words.logInByPasskey}
          </button>
        )}
        {view.screen !== 'forgot' && (
          <button type="button" className="link" disabled={view.isBusy} onClick={() => void phone.continueWith()}>
            {words.continueWith}
          </button>
        )}
      </p>
    </div>
  );
}

function EmailField({ view, phone }: ScreenProps) {
  const { phone: words } = useWords();
  return <Field label={words.email} value={view.email} inputMode="email" onChange={(email) => phone.type({ email })} />;
}

function PasswordField({ view, phone, label }: ScreenProps & { readonly label: string }) {
  return <Field label={label} value={view.password} onChange={(password) => phone.type({ password })} />;
}

function RegisterForm({ view, phone }: ScreenProps) {
  const { phone: words } = useWords();
  return (
    <Form isBusy={view.isBusy} action={words.register} onSubmit={phone.register}>
      <EmailField view={view} phone={phone} />
      <PasswordField view={view} phone={phone} label={words.password} />
      <SpaceFields view={view} phone={phone} />
    </Form>
  );
}

function LogInForm({ view, phone }: ScreenProps) {
  const { phone: words } = useWords();
  return (
    <Form isBusy={view.isBusy} action={words.logIn} onSubmit={phone.logIn}>
      <EmailField view={view} phone={phone} />
      <PasswordField view={view} phone={phone} label={words.password} />
    </Form>
  );
}

function ForgotForm({ view, phone }: ScreenProps) {
  const { phone: words } = useWords();
  if (view.challengeId === undefined) {
    return (
      <Form isBusy={view.isBusy} action={words.sendCode} onSubmit={phone.askCode}>
        <EmailField view={view} phone={phone} />
      </Form>
    );
  }
  return (
    <Form isBusy={view.isBusy} action={words.setPassword} onSubmit={phone.resetPassword}>
      <Field label={words.code} value={view.code} inputMode="numeric" onChange={(code) => phone.type({ code })} />
      <PasswordField view={view} phone={phone} label={words.newPassword} />
    </Form>
  );
}
