import { useId } from 'react';
import { useWords } from '../words/speech.ts';
import { CodeForm } from './code-form.tsx';
import { Field } from './field.tsx';
import { Form } from './form.tsx';
import type { Phone } from './phone.ts';
import type { PhoneView, Space } from './phone-view.ts';

interface ScreenProps {
  readonly view: PhoneView;
  readonly phone: Phone;
}

/** The screen with registration, login with its second step, and the forgotten password. */
export function SignedOutScreen({ view, phone }: ScreenProps) {
  const { phone: words } = useWords();
  if (view.isHalfIn) {
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
  const id = useId();
  return (
    <Form isBusy={view.isBusy} action={words.register} onSubmit={phone.register}>
      <EmailField view={view} phone={phone} />
      <PasswordField view={view} phone={phone} label={words.password} />
      <div className="field">
        <label htmlFor={id}>{words.space}</label>
        <select id={id} value={view.space} onChange={({ target }) => phone.type({ space: target.value as Space })}>
          {(Object.keys(words.spaces) as Space[]).map((space) => (
            <option key={space} value={space}>
              {words.spaces[space]}
            </option>
          ))}
        </select>
      </div>
      {view.space === 'JOIN_EXISTING' && (
        <Field label={words.invite} value={view.inviteToken} onChange={(inviteToken) => phone.type({ inviteToken })} />
      )}
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
