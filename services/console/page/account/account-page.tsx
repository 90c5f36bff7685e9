import { useStore } from '@auth-account/page/store.ts';
import { useState } from 'react';
import type { AccountView, AddressView } from '../../src/contract/index.ts';
import { me, post } from '../api/call.ts';
import { useTask } from '../api/loading.tsx';
import { Act } from '../parts/action-dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { RecordPage } from '../parts/record-page.tsx';
import { Facts, Id, Say } from '../parts/values.tsx';
import { Link } from '../route.tsx';
import { useWords } from '../words/speech.ts';
import { AccountLists } from './account-lists.tsx';
import { Answers } from './answers.tsx';
import { DeviceName, EndSentence } from './sentences.tsx';

interface AccountPageProps {
  /** Percent-encoded, as the address has it. */
  readonly id: string;
  /** The session that was searched for. */
  readonly session: string | null;
}

/** An account: the answers to the usual questions, and everything behind them. */
export function AccountPage({ id, session }: AccountPageProps) {
  const words = useWords();
  const path = `/api/accounts/${id}`;
  return (
    <RecordPage<AccountView> title={words.views.account} path={path}>
      {(account) => (
        <>
          <Head of={account} path={path} />
          {session !== null && <Searched session={session} of={account} />}
          <Answers of={account} />
          <AccountLists of={account} path={path} session={session} />
        </>
      )}
    </RecordPage>
  );
}

function Head({ of, path }: { readonly of: AccountView; readonly path: string }) {
  const words = useWords();
  const { user_id: id, email, group, account_type, role, display_name, locale, created_at, joined_at } = of;
  const facts = { display_name, locale, account_type, role, created_at, joined_at, last_login_at: of.last_login_at };
  return (
    <section className="card" aria-label={words.views.account}>
      <Address masked={email} pending={of.pending_email} path={path} />
      <p>
        <Id value={id} />
      </p>
      <Facts of={facts} names={words.factNames} />
      <p>
        {words.views.group}: <Link to={`/groups/${group.id}`}>{group.name ?? group.id}</Link>{' '}
        {group.members !== null && <Say text={words.members} count={group.members} />}
      </p>
      <p className="acts">
        <Act name={of.disabled ? 'account.enable' : 'account.disable'} target={id} />
        <Act name="account.export" target={id} />
      </p>
    </section>
  );
}

interface AddressProps {
  readonly masked: string;
  readonly pending: AccountView['pending_email'];
  readonly path: string;
}

/** The email address, masked until support asks for it. */
function Address({ masked, pending, path }: AddressProps) {
  const words = useWords();
  const [shown, setShown] = useState<AddressView>();
  const { isBusy, error, run } = useTask();
  const canShow = useStore(me)?.role !== 'viewer' && shown === undefined;
  const show = () => run(async () => setShown(await post<AddressView>(`${path}/address`)));
  return (
    <>
      <h2>{shown?.email ?? masked}</h2>
      {pending && (
        <p>
          <Say text={words.pendingEmail} email={shown?.pending_email ?? pending.email} until={pending.until} />
        </p>
      )}
      {canShow && (
        <button type="button" className="small" disabled={isBusy} onClick={() => void show()}>
          {words.showAddress}
        </button>
      )}
      {error !== undefined && <Failure error={error} />}
    </>
  );
}

/** Says what has become of the session that was searched for. */
function Searched({ session, of }: { readonly session: string; readonly of: AccountView }) {
  const words = useWords();
  const live = of.sessions.find(({ session_id }) => session_id === session);
  const ended = of.ended.items.find(({ session_id }) => session_id === session);
  return (
    <p className="card" role="note">
      {words.searched}: <Id value={session} />.{' '}
      {live && <Say text={words.sessionLives} device={<DeviceName of={live} />} at={live.last_used_at} />}
      {ended && <EndSentence of={ended} />}
      {!live && !ended && words.sessionIsOlder}
    </p>
  );
}
