import { Field } from '@auth-account/page/field.tsx';
import { Form } from '@auth-account/page/form.tsx';
import { LanguageChoice, useTitle } from '@auth-account/page/speech.tsx';
import { useStore } from '@auth-account/page/store.ts';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { ConsentView, Found, Me } from '../src/contract/index.ts';
import { AccountPage } from './account/account-page.tsx';
import { get, me, post, readMe, signOut } from './api/call.ts';
import { useTask } from './api/loading.tsx';
import { ActionDialog } from './parts/action-dialog.tsx';
import { Failure } from './parts/failure.tsx';
import { ReasonChoice, ReasonDialog } from './parts/reason-dialog.tsx';
import { Announcement, When } from './parts/values.tsx';
import { go, Link, place } from './route.tsx';
import { ConsentPage, ConsentsPage } from './views/consents.tsx';
import { EventPage, GroupPage, RequestPage } from './views/records.tsx';
import { SystemPage } from './views/system.tsx';
import { useWords } from './words/speech.ts';

/** The whole page: a button to sign in, or else the header and the view that the address names. */
export function ConsolePage() {
  const session = useStore(me);
  const { isBusy, error, run } = useTask();
  useEffect(() => void run(readMe), []);
  if (session) return <SignedIn session={session} />;
  if (session === null) return <SignIn />;
  return <main>{error !== undefined && !isBusy && <Failure error={error} onAgain={() => void run(readMe)} />}</main>;
}

function SignIn() {
  const words = useWords();
  useTitle(words.title);
  return (
    <main className="sign-in">
      <h1>{words.title}</h1>
      <p>{words.signInFirst}</p>
      <a className="primary" href={`/sign-in?to=${encodeURIComponent(place.read())}`}>
        {words.signIn}
      </a>
      <LanguageChoice label={words.language} />
    </main>
  );
}

function SignedIn({ session }: { readonly session: Me }) {
  const at = useStore(place);
  const main = useRef<HTMLElement>(null);
  const shown = useRef(at);
  useEffect(() => {
    if (shown.current !== at) {
      main.current?.focus();
      scrollTo(0, 0);
    }
    shown.current = at;
  }, [at]);
  useEffect(() => {
    // Nobody should read on at a desk whose owner has left.
    const rest = Date.parse(session.session_ends_at) - Date.now();
    const timer = setTimeout(() => me.change(() => null), Math.min(rest, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  }, [session]);
  return (
    <>
      <Header session={session} at={at} />
      <main ref={main} tabIndex={-1} key={at}>
        <View at={at} />
      </main>
      <Announcement />
      <ActionDialog />
      <ReasonDialog />
    </>
  );
}

function Header({ session, at }: { readonly session: Me; readonly at: string }) {
  const words = useWords();
  const { run } = useTask();
  const waiting = useWaiting(session, at);
  return (
    <header className="top">
      <Search />
      <nav aria-label={words.title}>
        <Link to="/">{words.views.find}</Link>
        <Link to="/system">{words.views.system}</Link>
        {session.four_eyes.length > 0 && (
          <Link to="/consents">
            {words.views.consents}
            {waiting > 0 && `: ${waiting}`}
          </Link>
        )}
      </nav>
      <ReasonChoice />
      <p>
        <bdi>{session.name}</bdi>, {words.roles[session.role]}
      </p>
      <p>
        {words.signedInUntil} <When at={session.session_ends_at} />
      </p>
      <LanguageChoice label={words.language} />
      <button type="button" onClick={() => void run(signOut)}>
        {words.signOut}
      </button>
    </header>
  );
}

/** Returns the number of consents that wait for this reader. It is read with each view, and never by a timer. */
function useWaiting({ four_eyes }: Me, at: string): number {
  const [waiting, setWaiting] = useState(0);
  useEffect(() => {
    if (four_eyes.length === 0) return;
    const count = (found: readonly ConsentView[]) => setWaiting(found.filter(({ is_own }) => !is_own).length);
    // The view of the consents shows the reason if they cannot be read.
    get<readonly ConsentView[]>('/api/consents').then(count, () => setWaiting(0));
  }, [four_eyes, at]);
  return waiting;
}

function Search() {
  const words = useWords();
  const [text, setText] = useState('');
  const { isBusy, error, run } = useTask();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    function focus(event: KeyboardEvent): void {
      const isTyping = event.target instanceof Element && event.target.matches('input, select, textarea');
      if (event.key !== '/' || isTyping || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      field.current?.focus();
    }
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  const find = () =>
    run(async () => {
      if (text.trim() !== '') go((await post<Found>('/api/find', { text: text.trim() })).path);
    });
  return (
    <search>
      <Form isBusy={isBusy} action={words.find} onSubmit={find}>
        <Field ref={field} label={words.searchLabel} value={text} maxLength={320} onChange={setText} />
      </Form>
      {error !== undefined && <Failure error={error} />}
    </search>
  );
}

const views: readonly (readonly [RegExp, (id: string, query: URLSearchParams) => ReactNode])[] = [
  [/^\/$/, () => <Home />],
  [/^\/accounts\/([^/]+)$/, (id, query) => <AccountPage id={id} session={query.get('session')} />],
  [/^\/groups\/([^/]+)$/, (id) => <GroupPage id={id} />],
  [/^\/requests\/([^/]+)$/, (id) => <RequestPage id={id} />],
  [/^\/events\/([^/]+)$/, (id) => <EventPage id={id} />],
  [/^\/consents$/, () => <ConsentsPage />],
  [/^\/consents\/([^/]+)$/, (id) => <ConsentPage id={id} />],
  [/^\/system$/, () => <SystemPage />],
];

function View({ at }: { readonly at: string }) {
  const [path = '', query] = at.split('?');
  for (const [form, view] of views) {
    const found = form.exec(path);
    if (found) return view(found[1] ?? '', new URLSearchParams(query));
  }
  return <Home />;
}

function Home() {
  const words = useWords();
  useTitle(words.title);
  return (
    <>
      <h1>{words.title}</h1>
      <p>{words.searchHint}</p>
    </>
  );
}
