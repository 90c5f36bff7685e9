import type {
  DeliveryView,
  EndedSessionView,
  LoginObstacle,
  MessageView,
  SessionView,
} from '../../src/contract/index.ts';
import { Id, Say } from '../parts/values.tsx';
import { useWords } from '../words/speech.ts';

/** The name and platform of a device. */
export function DeviceName({ of }: { readonly of: Pick<SessionView, 'device_name' | 'platform'> }) {
  const words = useWords();
  return (
    <>
      <bdi>{of.device_name ?? words.unnamed}</bdi>
      {of.platform !== null && ` (${of.platform})`}
    </>
  );
}

/** Says when and why a session has ended, and who ended it. */
export function EndSentence({ of }: { readonly of: EndedSessionView }) {
  const words = useWords();
  const { by_device, notice, operator, replaced_by } = of;
  return (
    <>
      <Say text={words.ended} device={<DeviceName of={of} />} at={of.ended_at} why={words.ends[of.reason]} />
      {by_device && (
        <>
          {' '}
          <Say text={words.endedBy.device} device={<DeviceName of={by_device} />} />
        </>
      )}
      {notice !== null && (
        <>
          {' '}
          <Say text={words.endedBy.notice} notice={notice} />
        </>
      )}
      {operator && (
        <>
          {' '}
          <Say text={words.endedBy.operator} name={operator.name} reason={operator.reason} />
        </>
      )}
      {replaced_by !== null && (
        <>
          {' '}
          <Say text={words.endedBy.session} session={<Id value={replaced_by} />} />
        </>
      )}
    </>
  );
}

/** Says why a login fails. */
export function ObstacleSentence({ of }: { readonly of: LoginObstacle }) {
  const words = useWords();
  return <Say text={words.obstacles[of.kind]} {...of} />;
}

/** Says what a mail is about. */
export function MessageName({ of }: { readonly of: Pick<MessageView, 'topic' | 'purpose'> }) {
  const words = useWords();
  const topics: Readonly<Record<string, string>> = words.topics;
  return (
    <>
      {topics[of.topic] ?? of.topic}
      {of.purpose !== null && ` (${purposeIn(words.purposes, of.purpose)})`}
    </>
  );
}

/** Returns the purpose in the reader's language, or its name if it is a new one. */
export const purposeIn = (purposes: Readonly<Record<string, string>>, purpose: string) => purposes[purpose] ?? purpose;

/** Says whether a subscriber has accepted a mail, and why not. */
export function DeliverySentence({ of }: { readonly of: DeliveryView }) {
  const words = useWords();
  const { subscriber, at, attempts, last_error } = of;
  return (
    <Say text={words.deliveries[of.state]} subscriber={subscriber} at={at} attempts={attempts} error={last_error} />
  );
}

/** Says to whom a mail went. */
export function DeliverySentences({ of }: { readonly of: MessageView }) {
  const words = useWords();
  if (of.deliveries.length === 0) return words.noDelivery;
  return of.deliveries.map((delivery, n) => (
    <span key={delivery.subscriber}>
      {n > 0 && '; '}
      <DeliverySentence of={delivery} />
    </span>
  ));
}
