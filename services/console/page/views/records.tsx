import type { EventView, GroupView, RequestView } from '../../src/contract/index.ts';
import { Invites } from '../account/account-lists.tsx';
import { DeliverySentence } from '../account/sentences.tsx';
import { Act } from '../parts/action-dialog.tsx';
import { RecordPage } from '../parts/record-page.tsx';
import { Facts, Id, RequestRef, Say, Section } from '../parts/values.tsx';
import { Link } from '../route.tsx';
import { useWords } from '../words/speech.ts';

interface ById {
  /** Percent-encoded, as the address has it. */
  readonly id: string;
}

/** A group with its members and invites. */
export function GroupPage({ id }: ById) {
  const words = useWords();
  return (
    <RecordPage<GroupView> title={words.views.group} path={`/api/groups/${id}`}>
      {({ members, invites, ...group }) => (
        <>
          <Section title={words.lists.facts}>
            <Facts of={group} names={words.factNames} />
          </Section>
          <Section title={words.lists.members}>
            <ul className="rows" aria-label={words.lists.members}>
              {members.map(({ user_id, email, role, joined_at }) => (
                <li key={user_id}>
                  <Link to={`/accounts/${user_id}`}>{email}</Link>, {role}, <Say text="{at}" at={joined_at} />
                  <p className="ids">
                    <Id value={user_id} />
                  </p>
                </li>
              ))}
            </ul>
          </Section>
          <Section title={words.lists.invites}>
            <Invites of={invites} />
          </Section>
        </>
      )}
    </RecordPage>
  );
}

/** A request, step by step. */
export function RequestPage({ id }: ById) {
  const words = useWords();
  return (
    <RecordPage<RequestView> title={words.views.request} path={`/api/requests/${id}`}>
      {({ request_id, steps, gaps }) => (
        <>
          <p>
            <RequestRef id={request_id} />
          </p>
          <Gaps of={gaps} />
          <ol className="rows" aria-label={words.steps} lang="en">
            {steps.map(({ at, after_ms, what, facts }, n) => (
              <li key={n}>
                <p>
                  <Say text="{at}, +{ms} ms: {what}" at={at} ms={after_ms} what={what} />
                </p>
                <Facts of={facts} />
              </li>
            ))}
          </ol>
        </>
      )}
    </RecordPage>
  );
}

/** Sources that could not be read. */
export function Gaps({ of }: { readonly of: readonly string[] }) {
  const words = useWords();
  if (of.length === 0) return null;
  return (
    <div className="bad">
      {words.gaps}
      <ul lang="en">
        {of.map((gap) => (
          <li key={gap}>{gap}</li>
        ))}
      </ul>
    </div>
  );
}

/** An event with its deliveries and attempts. */
export function EventPage({ id }: ById) {
  const words = useWords();
  return (
    <RecordPage<EventView> title={words.views.event} path={`/api/events/${id}`}>
      {({ deliveries, attempts, user_id, request_id, state, event_id, ...event }) => (
        <>
          <Section title={words.lists.facts}>
            <Facts of={{ event_id, state: words.eventStates[state], ...event }} names={words.factNames} />
            {user_id !== null && <Link to={`/accounts/${user_id}`}>{words.views.account}</Link>}{' '}
            <RequestRef id={request_id} />
          </Section>
          <Section title={words.lists.deliveries}>
            <ul className="rows" aria-label={words.lists.deliveries}>
              {deliveries.map((delivery) => (
                <li key={delivery.subscriber}>
                  <DeliverySentence of={delivery} />{' '}
                  <Act
                    name="event.replay"
                    target={event_id}
                    options={{ subscriber: delivery.subscriber }}
                    about={delivery.subscriber}
                  />
                </li>
              ))}
            </ul>
          </Section>
          <Section title={words.lists.attempts}>
            <ul className="rows" aria-label={words.lists.attempts}>
              {attempts.map((attempt) => (
                <li key={attempt.subscriber + attempt.at}>
                  <Facts of={attempt} names={words.factNames} />
                </li>
              ))}
            </ul>
          </Section>
        </>
      )}
    </RecordPage>
  );
}
