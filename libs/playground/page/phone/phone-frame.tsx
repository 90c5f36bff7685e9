import { language } from '@auth-account/page/speech.tsx';
import { useStore } from '@auth-account/page/store.ts';
import { type FocusEvent, type RefObject, useEffect, useRef, useState } from 'react';
import type { Words } from '../words/en.ts';
import { useWords } from '../words/speech.ts';
import { HomeScreen } from './home-screen.tsx';
import type { Phone } from './phone.ts';
import type { Notice, PhoneView } from './phone-view.ts';
import { SignedOutScreen } from './signed-out-screen.tsx';
import { Switches } from './switches.tsx';

/** A phone with its clock, its app, and switches for the faults that it can have. */
export function PhoneFrame({ phone, other }: { readonly phone: Phone; readonly other: Phone }) {
  const view = useStore(phone.view);
  const words = useWords();
  const { owner } = phone;
  const frame = useRef<HTMLElement>(null);
  const followFocus = useKeptFocus(frame, view);
  return (
    <section
      ref={frame}
      className={`device ${owner}`}
      aria-label={words.deviceOf(words.owners[owner])}
      tabIndex={-1}
      {...followFocus}
    >
      <div className="phone">
        <StatusBar view={view} name={words.owners[owner]} />
        <NoticeBar view={view} phone={phone} />
        <AppScreen view={view} phone={phone} other={other} />
      </div>
      <Switches view={view} phone={phone} />
    </section>
  );
}

/** Keeps the focus in the phone when the focused button disappears or is disabled, so that Tab continues from there. */
function useKeptFocus(frame: RefObject<HTMLElement | null>, { isBusy, screen, state }: PhoneView) {
  const isInside = useRef(false);
  useEffect(() => {
    if (isInside.current && !isBusy && document.activeElement === document.body)
      frame.current?.focus({ preventScroll: true });
  }, [frame, isBusy, screen, state.status]);
  return {
    onFocus() {
      isInside.current = true;
    },
    // Without a related target, the button has disappeared or the page is in the background.
    onBlur({ relatedTarget, currentTarget }: FocusEvent) {
      if (relatedTarget !== null && !currentTarget.contains(relatedTarget)) isInside.current = false;
    },
  };
}

function AppScreen({ view, phone, other }: { view: PhoneView; phone: Phone; other: Phone }) {
  const words = useWords();
  switch (view.state.status) {
    case 'signed_in':
      return <HomeScreen view={view} phone={phone} other={other} session={view.state.session} />;
    case 'signed_out':
      return <SignedOutScreen view={view} phone={phone} />;
    default:
      return <p className="screen">{words.phone.unknown}</p>;
  }
}

function StatusBar({ view, name }: { view: PhoneView; name: string }) {
  const words = useWords();
  const locale = useStore(language);
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const time = new Date(now + view.clockErrorMs);
  const text = new Intl.DateTimeFormat(locale, { weekday: 'short', hour: '2-digit', minute: '2-digit' }).format(time);
  const stream = view.isStreamOpen ? words.phone.streamOpen : words.phone.streamClosed;
  return (
    <header className="status-bar">
      <h2>{name}</h2>
      {view.isOffline ? (
        <span role="img" aria-label={words.switches.offline}>
          ✈
        </span>
      ) : (
        <span className={view.isStreamOpen ? 'stream open' : 'stream'}>{stream}</span>
      )}
      <time className={view.clockErrorMs === 0 ? '' : 'wrong'}>
        <span className="hidden">{words.phone.clock}: </span>
        {text}
      </time>
    </header>
  );
}

/** The message that a phone shows above its screen. */
function NoticeBar({ view: { notice }, phone }: { view: PhoneView; phone: Phone }) {
  const words = useWords();
  return (
    <div className="notices" role="status">
      {notice && (
        <p className={notice.kind === 'error' || notice.kind === 'new_device' ? 'notice alarming' : 'notice'}>
          <span>{textOf(notice, words)}</span>
          <button type="button" className="plain" aria-label={words.phone.dismiss} onClick={phone.dismiss}>
            ×
          </button>
        </p>
      )}
    </div>
  );
}

function textOf(notice: Notice, { notices }: Words): string {
  switch (notice.kind) {
    case 'error':
      if (notice.text.startsWith('CLIENT_PASSKEY_')) return notices.noPasskey;
      // The client's own errors have only their code as text.
      return notice.text;
    case 'signed_out':
      return notices.signedOut(notices.reasons[notice.reason]);
    case 'new_device':
      return notices.newDevice(notice.device.device_name ?? '?');
    default:
      return notices[notice.kind];
  }
}
