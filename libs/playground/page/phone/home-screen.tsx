import type { SessionInfo } from '@auth-account/client';
import { Field } from '@auth-account/page/field.tsx';
import { Form } from '@auth-account/page/form.tsx';
import { useWords } from '../words/speech.ts';
import type { Phone } from './phone.ts';
import type { PhoneView, Screen } from './phone-view.ts';
import { SecurityView } from './security-view.tsx';

interface ScreenProps {
  readonly view: PhoneView;
  readonly phone: Phone;
}

/** The app's screen for a logged-in user: the space with its members, the devices, and the sign-in methods. */
export function HomeScreen({
  view,
  phone,
  other,
  session,
}: ScreenProps & { readonly other: Phone; readonly session: SessionInfo }) {
  const { phone: words } = useWords();
  const tab = (screen: Screen, text: string) => (
    <button type="button" aria-pressed={view.screen === screen} onClick={() => void phone.show(screen)}>
      {text}
    </button>
  );
  return (
    <div className="screen">
      {view.removalDue !== undefined && (
        <p className="notice alarming">
          <span>{words.removalDue(new Date(view.removalDue))}</span>
          <button type="button" disabled={view.isBusy} onClick={() => void phone.stopRemoval()}>
            {words.stop}
          </button>
        </p>
      )}
      <div className="tabs">
        {tab('home', words.home)}
        {tab('devices', words.devices)}
        {tab('security', words.security)}
      </div>
      {view.screen === 'devices' && <Devices view={view} phone={phone} />}
      {view.screen === 'security' && <SecurityView view={view} phone={phone} />}
      {view.screen === 'home' && <Home view={view} phone={phone} other={other} userId={session.user_id} />}
      <button type="button" className="log-out" disabled={view.isBusy} onClick={() => void phone.logOut()}>
        {words.logOut}
      </button>
    </div>
  );
}

function Home({ view, phone, other, userId }: ScreenProps & { readonly other: Phone; readonly userId: string }) {
  const { phone: words, owners } = useWords();
  const { group, invite } = view;
  return (
    <>
      <h3>{group ? words.kinds[group.account_type] : '…'}</h3>
      <ul className="people" aria-label={words.members}>
        {group?.members.map(({ user_id, email, role }) => (
          <li key={user_id}>
            {email}
            <small>
              {user_id === userId && ` · ${words.you}`}
              {role === 'owner' && ` · ${words.owner}`}
            </small>
          </li>
        ))}
      </ul>
      {invite === undefined ? (
        <button type="button" disabled={view.isBusy} onClick={() => void phone.createInvite()}>
          {words.makeInvite}
        </button>
      ) : (
        <p className="invite">
          <code>{invite}</code>
          <button type="button" onClick={() => other.type({ inviteToken: invite, space: 'JOIN_EXISTING' })}>
            {words.handInvite(owners[other.owner])}
          </button>
        </p>
      )}
      <Form isBusy={view.isBusy} action={words.join} onSubmit={phone.join}>
        <Field
          label={words.joinByInvite}
          value={view.inviteToken}
          onChange={(inviteToken) => phone.type({ inviteToken })}
        />
      </Form>
    </>
  );
}

function Devices({ view, phone }: ScreenProps) {
  const { phone: words } = useWords();
  return (
    <ul className="people" aria-label={words.devices}>
      {view.sessions.map(({ session_id, device_name, is_current }) => (
        <li key={session_id}>
          {device_name ?? '?'}
          {is_current ? (
            <small> · {words.thisDevice}</small>
          ) : (
            <button type="button" disabled={view.isBusy} onClick={() => void phone.revoke(session_id)}>
              {words.logOut}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
