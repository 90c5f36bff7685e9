import type { Words } from '../words/en.ts';
import { useWords } from '../words/speech.ts';
import type { Phone } from './phone.ts';
import type { Notice, PhoneView } from './phone-view.ts';

/** The message that a phone shows above its screen. */
export function NoticeBar({ view: { notice }, phone }: { readonly view: PhoneView; readonly phone: Phone }) {
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
      // The client's own errors have no text but their code.
      return notice.text.startsWith('CLIENT_') ? notices.noNetwork : notice.text;
    case 'signed_out':
      return notices.signedOut(notices.reasons[notice.reason]);
    case 'new_device':
      return notices.newDevice(notice.device.device_name ?? '?');
    default:
      return notices[notice.kind];
  }
}
