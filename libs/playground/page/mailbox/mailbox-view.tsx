import { useStore } from '@auth-account/page/store.ts';
import type { Phone } from '../phone/phone.ts';
import { useWords } from '../words/speech.ts';
import { codeIn, type Mail, type Mailbox } from './mailbox.ts';

const mailsShown = 4;

/** The newest mails of this visit, to any email address. */
export function MailboxView({ mailbox, phones }: { readonly mailbox: Mailbox; readonly phones: readonly Phone[] }) {
  const { mailbox: words } = useWords();
  const mails = useStore(mailbox.mails);
  return (
    <section className="mailbox" aria-labelledby="mailbox-title">
      <header className="inside-head">
        <h2 id="mailbox-title">{words.title}</h2>
        <a href="/mail" target="_blank" rel="noreferrer">
          {words.all}
        </a>
      </header>
      {mails.length === 0 && <p className="empty">{words.empty}</p>}
      <ul>
        {mails.slice(0, mailsShown).map((mail) => (
          <MailLine key={`${mail.at} ${mail.to} ${mail.subject}`} mail={mail} phones={phones} />
        ))}
      </ul>
    </section>
  );
}

function MailLine({ mail, phones }: { readonly mail: Mail; readonly phones: readonly Phone[] }) {
  const { mailbox: words } = useWords();
  const code = codeIn(mail);
  const phone = phones.find(({ view }) => view.read().email === mail.to);
  return (
    <li>
      <span>
        <strong>{mail.subject}</strong> <small>{words.to(mail.to)}</small>
      </span>
      {code !== undefined && phone !== undefined && (
        <button type="button" onClick={() => phone.type({ code })}>
          {words.use}
        </button>
      )}
    </li>
  );
}
