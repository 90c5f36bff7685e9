import type { ReactNode } from 'react';
import type { DeadLetterView, SubscriberView, SystemView } from '../../src/contract/index.ts';
import { MoreList, useAgain } from '../api/loading.tsx';
import { Act } from '../parts/action-dialog.tsx';
import { RecordPage } from '../parts/record-page.tsx';
import { Facts, Id, Say, Section, When } from '../parts/values.tsx';
import { Link } from '../route.tsx';
import { useWords } from '../words/speech.ts';
import { Gaps } from './records.tsx';

/** The system on one page. It is read again only by a button. */
export function SystemPage() {
  const words = useWords();
  return (
    <RecordPage<SystemView> title={words.views.system} path="/api/system">
      {(system) => <Parts of={system} />}
    </RecordPage>
  );
}

function Parts({ of }: { readonly of: SystemView }) {
  const words = useWords();
  const again = useAgain();
  const { parts } = words;
  return (
    <>
      <p>
        <Say text={words.readAt} at={of.read_at} />{' '}
        <button type="button" onClick={again}>
          {words.refresh}
        </button>
      </p>
      <Gaps of={of.gaps} />
      <Rows title={parts.checks} of={of.checks}>
        {({ check, status, detail, fix }) => (
          <>
            <strong className={status === 'ok' ? 'good' : 'bad'}>{words.checkStates[status]}</strong>{' '}
            <span lang="en">
              {check}: {detail}
            </span>
            {fix !== null && (
              <p>
                {words.fix}: <span lang="en">{fix}</span>
              </p>
            )}
          </>
        )}
      </Rows>
      <Rows title={parts.subscribers} of={of.subscribers}>
        {(subscriber) => <Subscriber of={subscriber} />}
      </Rows>
      <DeadLetters key={`${of.read_at} ${of.subscribers.map(({ dead_letters }) => dead_letters)}`} />
      <Section title={parts.outbox}>
        <Facts of={of.outbox} names={words.factNames} />
      </Section>
      <Plain title={parts.queues} of={of.queues} />
      <Section title={parts.denyList}>
        <Facts of={of.deny_list} names={words.factNames} />
      </Section>
      <Plain title={parts.streams} of={of.streams} />
      <Rows title={of.limits.span === 'hour' ? parts.limitsHour : parts.limitsStart} of={of.limits.rules}>
        {({ rule, refused }) => `${rule}: ${refused}`}
      </Rows>
      <Plain
        title={parts.keys}
        of={of.keys.map(({ signs, accepts, ...key }) => ({ ...key, signs: signs.join(), accepts: accepts.join() }))}
      />
      <Rows title={parts.processes} of={of.processes}>
        {({ settings, ...facts }) => (
          <>
            <Facts of={facts} names={words.factNames} />
            <details>
              <summary>{words.settings}</summary>
              <Facts of={settings} />
            </details>
          </>
        )}
      </Rows>
    </>
  );
}

function Rows<T>({ title, of, children }: { title: string; of: readonly T[]; children: (item: T) => ReactNode }) {
  const words = useWords();
  return (
    <Section title={title}>
      {of.length === 0 && <p className="empty">{words.none}</p>}
      <ul className="rows" aria-label={title}>
        {of.map((item, n) => (
          <li key={n}>{children(item)}</li>
        ))}
      </ul>
    </Section>
  );
}

/** A list of which every item has only values. */
function Plain({ title, of }: { readonly title: string; readonly of: readonly object[] }) {
  const words = useWords();
  return (
    <Rows title={title} of={of}>
      {(facts) => <Facts of={facts} names={words.factNames} />}
    </Rows>
  );
}

function Subscriber({ of }: { readonly of: SubscriberView }) {
  const words = useWords();
  const { name, configured, suspended_at, suspended_by, dead_letters } = of;
  return (
    <>
      <strong>{name}</strong>
      {!configured && ` (${words.notConfigured})`}: <Say text={words.deadLetters} count={dead_letters} />{' '}
      {suspended_at !== null && <Say text={words.suspended} at={suspended_at} by={suspended_by} />}
      <p className="acts">
        <Act name={suspended_at ? 'subscriber.resume' : 'subscriber.suspend'} target={name} about={name} />
        {suspended_at === null && <Act name="subscriber.retry" target={name} about={name} />}
      </p>
    </>
  );
}

function DeadLetters() {
  const words = useWords();
  const title = words.parts.deadLetters;
  return (
    <Section title={title}>
      <MoreList<DeadLetterView> label={title} path="/api/dead-letters">
        {({ event_id, subscriber, topic, attempts, last_error, given_up_at }) => (
          <>
            <p>
              {topic} → {subscriber}, <When at={given_up_at} />. <Say text={words.attempts} count={attempts} />{' '}
              <span lang="en">{last_error}</span>
            </p>
            <p className="ids">
              <Link to={`/events/${event_id}`}>{words.views.event}</Link> <Id value={event_id} />
            </p>
            <p className="acts">
              <Act name="event.replay" target={event_id} options={{ subscriber }} about={event_id} />
              <Act name="dead_letter.discard" target={event_id} options={{ subscriber }} about={event_id} />
            </p>
          </>
        )}
      </MoreList>
    </Section>
  );
}
