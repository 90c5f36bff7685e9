import { type Language, language } from '@auth-account/page/speech.tsx';
import { createStore, useStore } from '@auth-account/page/store.ts';
import { Fragment, type ReactNode } from 'react';
import { me } from '../api/call.ts';
import { Link } from '../route.tsx';
import { useWords } from '../words/speech.ts';

const announced = createStore('');
let silence: ReturnType<typeof setTimeout> | undefined;

function announce(text: string): void {
  announced.change(() => text);
  clearTimeout(silence);
  silence = setTimeout(() => announced.change(() => ''), 4_000);
}

/** The place where short news, such as that an id was copied, are shown and read out. */
export function Announcement() {
  return (
    <p className="announcement" role="status">
      {useStore(announced)}
    </p>
  );
}

/** An id. One click copies it. */
export function Id({ value }: { readonly value: string }) {
  const words = useWords();
  async function copy(): Promise<void> {
    // Without HTTPS a browser has no clipboard.
    const isDone = await navigator.clipboard?.writeText(value).then(
      () => true,
      () => false,
    );
    announce(isDone ? words.copied : words.notCopied);
  }
  return (
    <button type="button" className="id" title={words.copy} onClick={() => void copy()}>
      {value}
    </button>
  );
}

/** The id of a request, with the views of what it did. */
export function RequestRef({ id }: { readonly id: string | null }) {
  const words = useWords();
  const trace = useStore(me)?.trace_url;
  if (id === null) return null;
  return (
    <span>
      {words.request}: <Id value={id} /> <Link to={`/requests/${encodeURIComponent(id)}`}>{words.steps}</Link>
      {trace && (
        <>
          {' '}
          <a href={trace.replace('{request_id}', encodeURIComponent(id))} target="_blank" rel="noreferrer">
            {words.trace}
          </a>
        </>
      )}
    </span>
  );
}

const locales: Readonly<Record<Language, string>> = { en: 'en-GB', ru: 'ru' };
const day = { day: 'numeric', month: 'short', year: 'numeric' } as const;
const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;

/** A time in the reader's zone, and in UTC beside it. */
export function When({ at }: { readonly at: string }) {
  const locale = locales[useStore(language)];
  const time = new Date(at);
  const here = new Intl.DateTimeFormat(locale, { ...day, ...clock });
  const isSameDay = time.getDate() === time.getUTCDate();
  const there = new Intl.DateTimeFormat(locale, { ...(isSameDay ? {} : day), ...clock, timeZone: 'UTC' });
  const isUtc = time.getTimezoneOffset() === 0;
  return (
    <time dateTime={at}>
      {here.format(time)}
      {isUtc ? ' UTC' : ` (${there.format(time)} UTC)`}
    </time>
  );
}

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;
const idForm = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/;

/** A value of a kind that only the server knows. */
function Value({ value }: { readonly value: unknown }) {
  const words = useWords();
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  const text = String(value);
  if (timeForm.test(text)) return <When at={text} />;
  return idForm.test(text) ? <Id value={text} /> : <bdi>{text}</bdi>;
}

/** Values with their names. */
export function Facts({ of, names = {} }: { of: object; names?: Readonly<Record<string, string>> }) {
  return (
    <dl className="facts">
      {Object.entries(of).map(([name, value]) => (
        <div key={name}>
          <dt>{names[name] ?? name}</dt>
          <dd>
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A sentence, whose places in braces get values and parts of the page. */
export function Say({ text, ...parts }: { readonly text: string } & Readonly<Record<string, unknown>>) {
  const pieces = text.split(/\{(\w+)\}/);
  return pieces.map((piece, n) => {
    const part = n % 2 === 0 ? piece : parts[piece];
    const isNode = n % 2 === 0 || (typeof part === 'object' && part !== null);
    return <Fragment key={n}>{isNode ? (part as ReactNode) : <Value value={part} />}</Fragment>;
  });
}

/** A headed part of a view. */
export function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="card" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
