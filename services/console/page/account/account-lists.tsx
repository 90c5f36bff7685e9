import type { AccountView, InviteView, SessionView, TimelineEntry } from '../../src/contract/index.ts';
import { MoreList } from '../api/loading.tsx';
import { Act } from '../parts/action-dialog.tsx';
import { Facts, Id, RequestRef, Say, Section, When } from '../parts/values.tsx';
import { Link } from '../route.tsx';
import { useWords } from '../words/speech.ts';
import { DeliverySentences, DeviceName, EndSentence, MessageName } from './sentences.tsx';

interface AccountListsProps {
  readonly of: AccountView;
  /** Path of the account in the api. */
  readonly path: string;
  readonly session: string | null;
}

/** Everything behind the answers, list by list. */
export function AccountLists({ of, path, session }: AccountListsProps) {
  const words = useWords();
  const { lists } = words;
  return (
    <>
      <Section title={lists.sessions}>
        <ul className="rows" aria-label={lists.sessions}>
          {of.sessions.map((each) => (
            <li key={each.session_id} aria-current={each.session_id === session || undefined}>
              <p>
                <Say
                  text={words.answers.device}
                  device={<DeviceName of={each} />}
                  created={each.created_at}
                  used={each.last_used_at}
                />{' '}
                <Act name="session.end" target={each.session_id} about={each.device_name ?? each.session_id} />
              </p>
              <SessionFacts of={each} request={each.created_request_id} />
            </li>
          ))}
        </ul>
      </Section>
      <Section title={lists.ended}>
        <MoreList label={lists.ended} first={of.ended} path={`${path}/ended`}>
          {(each) => (
            <div aria-current={each.session_id === session || undefined}>
              <p>
                <EndSentence of={each} />
              </p>
              <SessionFacts of={each} request={each.request_id} />
            </div>
          )}
        </MoreList>
      </Section>
      <Section title={lists.messages}>
        <MoreList label={lists.messages} first={of.messages} path={`${path}/messages`}>
          {(each) => (
            <>
              <p>
                <MessageName of={each} />, <When at={each.at} />: <DeliverySentences of={each} />
              </p>
              <p className="ids">
                <Link to={`/events/${each.event_id}`}>{words.views.event}</Link> <Id value={each.event_id} />{' '}
                <RequestRef id={each.request_id} />
              </p>
            </>
          )}
        </MoreList>
      </Section>
      <Section title={lists.limits}>
        <Limits of={of} />
      </Section>
      <Section title={lists.invites}>
        <Invites of={of.invites} />
      </Section>
      <Timeline path={path} />
    </>
  );
}

/** Ids and dates of a session. */
function SessionFacts({
  of,
  request,
}: {
  readonly of: Omit<SessionView, 'expires_at'>;
  readonly request: string | null;
}) {
  const words = useWords();
  const { session_id, device_id, methods, is_bound, created_at, last_used_at } = of;
  const facts = { session_id, device_id, methods: methods.join(', '), is_bound, created_at, last_used_at };
  return (
    <>
      <Facts of={facts} names={words.factNames} />
      <p className="ids">
        <RequestRef id={request} />
      </p>
    </>
  );
}

function Limits({ of: { limits } }: { readonly of: AccountView }) {
  const words = useWords();
  if (!limits.known)
    return (
      <p>
        {words.limitsUnknown} <span lang="en">{limits.why}</span>
      </p>
    );
  const { known, factor_tries_elsewhere: tries, codes_asked_elsewhere: codes, ...counts } = limits;
  return (
    <>
      <Facts of={counts} names={words.factNames} />
      <Times label={words.factNames.factor_tries_elsewhere} of={tries} />
      <Times label={words.factNames.codes_asked_elsewhere} of={codes} />
    </>
  );
}

function Times({ label, of }: { readonly label: string; readonly of: readonly string[] }) {
  const words = useWords();
  return (
    <p>
      {label}: {of.length === 0 && words.none}
      {of.map((at, n) => (
        <span key={at}>
          {n > 0 && '; '}
          <When at={at} />
        </span>
      ))}
    </p>
  );
}

/** Invites, of which those that are good can be revoked. */
export function Invites({ of }: { readonly of: readonly InviteView[] }) {
  const words = useWords();
  if (of.length === 0) return <p className="empty">{words.none}</p>;
  return (
    <ul className="rows" aria-label={words.lists.invites}>
      {of.map((invite) => (
        <li key={invite.ref}>
          <p>
            <Say
              text={words.invite}
              {...invite}
              max={invite.max_uses ?? '∞'}
              state={words.inviteStates[invite.state]}
            />{' '}
            {invite.state === 'good' && (
              <Act
                name="invite.revoke"
                target={invite.ref}
                options={{ group_id: invite.group_id }}
                about={invite.ref}
              />
            )}
          </p>
          <Id value={invite.ref} />
        </li>
      ))}
    </ul>
  );
}

/** The account's history, which is read only when somebody asks for it. */
function Timeline({ path }: { readonly path: string }) {
  const { lists } = useWords();
  return (
    <Section title={lists.timeline}>
      <MoreList<TimelineEntry> label={lists.timeline} path={`${path}/timeline`}>
        {({ at, request_id, steps }) => (
          <>
            <p>
              <When at={at} /> <RequestRef id={request_id} />
            </p>
            {steps.map((step, n) => (
              <div key={n} lang="en">
                {step.what}
                <Facts of={step.facts} />
              </div>
            ))}
          </>
        )}
      </MoreList>
    </Section>
  );
}
