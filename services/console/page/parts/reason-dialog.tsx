import { Field } from '@auth-account/page/field.tsx';
import { Form } from '@auth-account/page/form.tsx';
import { useStore } from '@auth-account/page/store.ts';
import { useState } from 'react';
import { askReason, type Question, question, reason, setReason } from '../api/reason.ts';
import { useWords } from '../words/speech.ts';
import { Dialog } from './dialog.tsx';

/** The question for the reason, while one is needed. */
export function ReasonDialog() {
  const open = useStore(question);
  return open && <Asked {...open} />;
}

function Asked({ answer, refusal }: Question) {
  const words = useWords();
  const [text, setText] = useState(reason.read());
  async function give(): Promise<void> {
    if (text.trim() === '') return;
    setReason(text.trim());
    answer(true);
  }
  return (
    <Dialog title={words.reason.ask} onClose={() => answer(false)}>
      <p>{words.reason.why}</p>
      {refusal !== undefined && (
        <p className="bad" role="alert" lang="en">
          {refusal}
        </p>
      )}
      <Form isBusy={text.trim() === ''} action={words.goOn} onSubmit={give}>
        <Field label={words.reason.label} value={text} maxLength={200} onChange={setText} />
      </Form>
      <button type="button" onClick={() => answer(false)}>
        {words.cancel}
      </button>
    </Dialog>
  );
}

/** The reason that is sent, which a button changes. */
export function ReasonChoice() {
  const words = useWords();
  const given = useStore(reason);
  return (
    <p>
      {words.reason.label}: <strong>{given || words.reason.none}</strong>{' '}
      <button
        type="button"
        className="small"
        aria-label={`${words.change}: ${words.reason.label}`}
        onClick={() => void askReason()}
      >
        {words.change}
      </button>
    </p>
  );
}
