import { useState } from 'react';
import type { ActionAnswer, ConsentView } from '../../src/contract/index.ts';
import { post } from '../api/call.ts';
import { useAgain, useTask } from '../api/loading.tsx';
import { Result } from '../parts/action-dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { RecordPage } from '../parts/record-page.tsx';
import { Facts, Say } from '../parts/values.tsx';
import { Link } from '../route.tsx';
import { useWords } from '../words/speech.ts';

/** The actions that wait for a second person. */
export function ConsentsPage() {
  const words = useWords();
  return (
    <RecordPage<readonly ConsentView[]> title={words.views.consents} path="/api/consents">
      {(consents) => (
        <ul className="rows" aria-label={words.views.consents}>
          {consents.length === 0 && <li>{words.none}</li>}
          {consents.map(({ consent_id, action, asked_by, asked_at }) => (
            <li key={consent_id}>
              <Link to={`/consents/${consent_id}`}>{words.actions[action].name}</Link>:{' '}
              <Say text={words.askedBy} by={asked_by} at={asked_at} />
            </li>
          ))}
        </ul>
      )}
    </RecordPage>
  );
}

/** An action for which somebody has asked. Another person consents or refuses; the one who asked may take it back. */
export function ConsentPage({ id }: { readonly id: string }) {
  const words = useWords();
  return (
    <RecordPage<ConsentView> title={words.views.consent} path={`/api/consents/${id}`}>
      {(of) => <Consent of={of} />}
    </RecordPage>
  );
}

function Consent({ of }: { readonly of: ConsentView }) {
  const words = useWords();
  const again = useAgain();
  const [answer, setAnswer] = useState<ActionAnswer>();
  const { isBusy, error, run } = useTask();
  const path = `/api/consents/${encodeURIComponent(of.consent_id)}`;
  const { name, says } = words.actions[of.action];
  const give = () =>
    run(async () => {
      setAnswer(await post<ActionAnswer>(`${path}/give`, { digest: of.digest }));
      again();
    });
  const refuse = () =>
    run(async () => {
      await post(`${path}/refuse`);
      again();
    });
  return (
    <section className="card" aria-label={name}>
      <h2>{name}</h2>
      <p>
        <Say text={words.askedBy} by={of.asked_by} at={of.asked_at} />
      </p>
      <p>{says}</p>
      {of.question !== '' && <blockquote lang="en">{of.question}</blockquote>}
      <p>
        {words.reason.label}: <strong>{of.reason}</strong>
      </p>
      <Facts of={{ target: of.target, ...of.options, expires_at: of.expires_at }} names={words.factNames} />
      <p role="status">{words.consentStates[of.state]}</p>
      {of.state === 'waiting' && (
        <p className="acts">
          {of.is_own && words.ownConsent}
          {!of.is_own && of.digest === '' && words.cannotConsent}
          {!of.is_own && of.digest !== '' && (
            <button type="button" className="primary" disabled={isBusy} onClick={() => void give()}>
              {words.giveConsent}
            </button>
          )}
          <button type="button" disabled={isBusy} onClick={() => void refuse()}>
            {of.is_own ? words.takeBack : words.refuseConsent}
          </button>
        </p>
      )}
      {error !== undefined && <Failure error={error} onAgain={again} />}
      {answer && <Result answer={answer} />}
    </section>
  );
}
