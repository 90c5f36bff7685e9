import { createStore, useStore } from '@auth-account/page/store.ts';
import { type ReactNode, useEffect, useId, useReducer, useState } from 'react';
import type { ActionAnswer, ActionName, PlanAnswer, PlanRequest } from '../../src/contract/index.ts';
import { me, post } from '../api/call.ts';
import { useAgain, useTask } from '../api/loading.tsx';
import { Link, place } from '../route.tsx';
import { useWords } from '../words/speech.ts';
import { Dialog } from './dialog.tsx';
import { Failure } from './failure.tsx';
import { ReasonChoice } from './reason-dialog.tsx';
import { Facts, Id, RequestRef } from './values.tsx';

interface Chosen extends PlanRequest {
  /** Reads the view again, after the action. */
  readonly onDone: () => void;
}

/** The action whose dialog is open. */
const chosen = createStore<Chosen | undefined>(undefined);
const close = () => chosen.change(() => undefined);
// A dialog belongs to its view, which a link in it or the browser's back button leaves.
place.subscribe(close);

interface ActProps {
  readonly name: ActionName;
  readonly target: string;
  readonly options?: NonNullable<PlanRequest['options']>;
  /** Name of the one that is meant among several, such as of a device. */
  readonly about?: string;
}

/** The button of an action, for those who may take it. */
export function Act({ name, about, target, options }: ActProps) {
  const words = useWords();
  const onDone = useAgain();
  if (!useStore(me)?.actions.includes(name)) return null;
  const open = () => chosen.change(() => ({ action: name, target, onDone, ...(options && { options }) }));
  const text = words.actions[name].name;
  const label = about === undefined ? undefined : `${text}: ${about}`;
  return (
    <button type="button" className="small" aria-haspopup="dialog" aria-label={label} onClick={open}>
      {text}
    </button>
  );
}

/** Says what the chosen action will do, asks for a confirmation, and shows the result. */
export function ActionDialog() {
  const action = useStore(chosen);
  return action && <Steps key={`${action.action} ${action.target}`} of={action} />;
}

function Steps({ of: { onDone, ...request } }: { readonly of: Chosen }) {
  const words = useWords();
  const [options, setOptions] = useState(request.options);
  const [plan, setPlan] = useState<PlanAnswer>();
  const [answer, setAnswer] = useState<ActionAnswer>();
  const { isBusy, error, run } = useTask();
  const body = { ...request, ...(options && { options }) };
  const { name, says } = words.actions[request.action];
  const [turn, planAgain] = useReducer((turns: number) => turns + 1, 0);
  useEffect(() => {
    let isCurrent = true;
    setPlan(undefined);
    void run(async () => {
      const made = await post<PlanAnswer>('/api/plans', body);
      if (isCurrent) setPlan(made);
    });
    return () => {
      isCurrent = false;
    };
  }, [options, turn]);
  const carryOut = () =>
    run(async () => {
      if (plan) setAnswer(await post<ActionAnswer>('/api/actions', { ...body, digest: plan.digest }));
      onDone();
    });
  return (
    <Dialog title={name} onClose={close}>
      {answer === undefined ? (
        <>
          <p>{says}</p>
          <Options action={request.action} options={options} onChoose={setOptions} />
          <Question plan={plan} />
          <ReasonChoice />
          {error !== undefined && <Failure error={error} onAgain={planAgain} />}
          <button type="button" className="primary" disabled={isBusy || !plan} onClick={() => void carryOut()}>
            {plan?.needs_consent ? words.askConsent : words.confirm}
          </button>
        </>
      ) : (
        <Result answer={answer} />
      )}
      <button type="button" onClick={close}>
        {answer ? words.close : words.cancel}
      </button>
    </Dialog>
  );
}

function Question({ plan }: { readonly plan: PlanAnswer | undefined }) {
  const words = useWords();
  return (
    <>
      <blockquote lang="en">{plan?.question ?? '…'}</blockquote>
      {plan?.needs_consent && <p>{words.secondPerson}</p>}
    </>
  );
}

type Options = PlanRequest['options'];
interface OptionsProps {
  readonly action: ActionName;
  readonly options: Options;
  readonly onChoose: (options: Options) => void;
}

/** The choice that some actions have. */
function Options({ action, options, onChoose }: OptionsProps) {
  const words = useWords();
  const usual = useStore(me)?.deletion_grace_days ?? 0;
  if (action === 'deletion.order') {
    const days = Array.from({ length: 31 }, (_, day) => [String(day), String(day)] as const);
    const choose = (value: string) => onChoose({ grace_days: Number(value) });
    return <Choice label={words.graceDays} value={options?.grace_days ?? usual} of={days} onChoose={choose} />;
  }
  if (action !== 'methods.remove') return null;
  const kinds = Object.entries(words.methodKinds);
  const choose = (only: string) => onChoose(only === 'passkeys' || only === 'identities' ? { only } : undefined);
  return <Choice label={words.whichMethods} value={options?.only ?? 'all'} of={kinds} onChoose={choose} />;
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string | number;
  readonly of: readonly (readonly [value: string, text: string])[];
  readonly onChoose: (value: string) => void;
}

function Choice({ label, value, of, onChoose }: ChoiceProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={({ target }) => onChoose(target.value)}>
        {of.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The result of an action, or that a second person must consent. */
export function Result({ answer }: { readonly answer: ActionAnswer }): ReactNode {
  const words = useWords();
  if (answer.state === 'waiting') {
    const path = `/consents/${answer.consent.consent_id}`;
    return (
      <div role="status">
        <p>{words.waitsForConsent}</p>
        <p>
          <Id value={location.origin + path} />
        </p>
        <Link to={path}>{words.views.consent}</Link>
      </div>
    );
  }
  return (
    <div role="status">
      <p className="good">{words.done}</p>
      <Facts of={answer.facts} names={words.factNames} />
      {answer.problem !== null && (
        <>
          <p className="bad">{words.streamsLater}</p>
          <p lang="en">{answer.problem}</p>
        </>
      )}
      <RequestRef id={answer.request_id} />
      {answer.data !== undefined && <Download data={answer.data} name={answer.request_id} />}
    </div>
  );
}

function Download({ data, name }: { readonly data: unknown; readonly name: string }) {
  const words = useWords();
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [data]);
  return (
    <p>
      <a href={url} download={`account-${name}.json`}>
        {words.download}
      </a>
    </p>
  );
}
