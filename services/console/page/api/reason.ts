import { createStore } from '@auth-account/page/store.ts';

const storedUnder = 'reason';

/** Reason for which this tab looks at personal data. It stays until the reader changes it. */
export const reason = createStore(sessionStorage.getItem(storedUnder) ?? '');

/** The open question for the reason. */
export interface Question {
  /** The server's words about the earlier reason, if it refused that. */
  readonly refusal: string | undefined;
  readonly answer: (given: boolean) => void;
}

export const question = createStore<Question | undefined>(undefined);

let asked: Promise<boolean> | undefined;

/** Asks the reader for the reason. Calls at the same time share the dialog. Resolves to false if none was given. */
export function askReason(refusal?: string): Promise<boolean> {
  asked ??= new Promise<boolean>((answer) => question.change(() => ({ refusal, answer }))).finally(() => {
    asked = undefined;
    question.change(() => undefined);
  });
  return asked;
}

export function setReason(text: string): void {
  sessionStorage.setItem(storedUnder, text);
  reason.change(() => text);
}
