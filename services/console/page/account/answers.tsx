import type { ReactNode } from 'react';
import type { AccountView } from '../../src/contract/index.ts';
import { Act } from '../parts/action-dialog.tsx';
import { Say, Section } from '../parts/values.tsx';
import { useWords } from '../words/speech.ts';
import { DeliverySentences, DeviceName, EndSentence, MessageName, ObstacleSentence, purposeIn } from './sentences.tsx';

/** Number of mails that the answer names. */
const shownMails = 3;

/** The answers to what support is asked most, most frequent first. */
export function Answers({ of }: { readonly of: AccountView }) {
  const words = useWords();
  const { answers: titles } = words;
  const [ended] = of.ended.items;
  const mails = of.messages.items.slice(0, shownMails);
  return (
    <Section title={titles.title}>
      <dl className="answers">
        <Answer question={titles.signedOut}>
          {ended ? [<EndSentence key="end" of={ended} />] : [titles.noneSignedOut]}
        </Answer>
        <Answer
          question={titles.mail}
          acts={of.open_codes.length > 0 && <Act name="code.resend" target={of.user_id} />}
        >
          {mails.length === 0 && titles.noMail}
          {mails.map((mail) => (
            <span key={mail.event_id}>
              <MessageName of={mail} />, <Say text="{at}" at={mail.at} />: <DeliverySentences of={mail} />
            </span>
          ))}
          {of.open_codes.map(({ purpose, ...code }) => (
            <Say key={purpose} text={words.openCode} {...code} purpose={purposeIn(words.purposes, purpose)} />
          ))}
        </Answer>
        <LoginAnswer of={of} />
        <FactorsAnswer of={of} />
        <ProvidersAnswer of={of} />
        <DevicesAnswer of={of} />
        <Answer
          question={titles.deletion}
          acts={<Act name={of.deletes_at ? 'deletion.cancel' : 'deletion.order'} target={of.user_id} />}
        >
          <Say text={of.deletes_at ? titles.deletesAt : titles.noDeletion} at={of.deletes_at} />
        </Answer>
      </dl>
    </Section>
  );
}

interface AnswerProps {
  readonly question: string;
  readonly acts?: ReactNode;
  /** Sentences, each on a line of its own. */
  readonly children: ReactNode;
}

function Answer({ question, acts, children }: AnswerProps) {
  const sentences = [children].flat(2).filter(Boolean);
  return (
    <div>
      <dt>{question}</dt>
      {sentences.map((sentence, n) => (
        <dd key={n}>{sentence}</dd>
      ))}
      {acts && <dd className="acts">{acts}</dd>}
    </div>
  );
}

interface Part {
  readonly of: AccountView;
}

function LoginAnswer({ of: { logins, user_id, disabled } }: Part) {
  const words = useWords();
  const { answers: titles } = words;
  const acts = (
    <>
      <Act name="limits.clear" target={user_id} />
      <Act name="password.void" target={user_id} />
    </>
  );
  return (
    <Answer question={titles.login} acts={acts}>
      <strong className={logins.works ? 'good' : 'bad'}>{logins.works ? titles.works : titles.fails}</strong>
      {logins.obstacles.map((obstacle) => (
        <ObstacleSentence key={Object.values(obstacle).join()} of={obstacle} />
      ))}
      {disabled?.by && <Say text={titles.disabledBy} by={disabled.by} />}
    </Answer>
  );
}

function FactorsAnswer({ of: { methods, user_id } }: Part) {
  const words = useWords();
  const { answers: titles } = words;
  const { second_factor: factor, passkeys, password, password_changed_at } = methods;
  const acts = (
    <>
      {factor && <Act name={factor.removal ? 'factor_removal.stop' : 'factor_removal.order'} target={user_id} />}
      <Act name="methods.remove" target={user_id} />
    </>
  );
  return (
    <Answer question={titles.factors} acts={acts}>
      <Say
        text={password === 'void' ? titles.passwordVoid : titles.password}
        kind={password}
        at={password_changed_at}
      />
      {factor ? (
        <Say
          text={titles.factor}
          since={factor.since}
          codes={factor.recovery_codes}
          trusted={methods.trusted_devices}
        />
      ) : (
        titles.noFactor
      )}
      {factor?.removal && (
        <Say text={titles.removal} at={factor.removal.due_at} by={titles.removalBy[factor.removal.by]} />
      )}
      {passkeys.length === 0 && titles.noPasskey}
      {passkeys.map(({ id, name, created_at, last_used_at }) => (
        <Say key={id} text={titles.passkey} name={name ?? words.unnamed} created={created_at} used={last_used_at} />
      ))}
    </Answer>
  );
}

function ProvidersAnswer({ of: { methods } }: Part) {
  const { answers: titles } = useWords();
  return (
    <Answer question={titles.providers}>
      {methods.identities.length === 0 && titles.noProvider}
      {methods.identities.map(({ id, provider, linked_at, disabled_at, relay_off_at }) => (
        <span key={id}>
          <Say text={titles.linked} provider={provider} at={linked_at} />
          {disabled_at !== null && <Say text={titles.providerDisabled} at={disabled_at} />}
          {relay_off_at !== null && <Say text={titles.relayOff} at={relay_off_at} />}
        </span>
      ))}
    </Answer>
  );
}

function DevicesAnswer({ of: { sessions, user_id, methods, email_verified_at } }: Part) {
  const { answers: titles } = useWords();
  const all = sessions.length > 0 && <Act name="sessions.end_all" target={user_id} />;
  return (
    <Answer question={titles.devices} acts={all}>
      {sessions.length === 0 && titles.noDevice}
      {sessions.map((session) => (
        <Say
          key={session.session_id}
          text={titles.device}
          device={<DeviceName of={session} />}
          created={session.created_at}
          used={session.last_used_at}
        />
      ))}
      <Say text={titles.changed} password={methods.password_changed_at} email={email_verified_at} />
    </Answer>
  );
}
