import { createStore, type Store } from '../store.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly at: string;
}

/** Mails of the local stack. */
export interface Mailbox {
  readonly mails: Pick<Store<readonly Mail[]>, 'read' | 'subscribe'>;
  readAgain(): void;
}

export function createMailbox(): Mailbox {
  const mails = createStore<readonly Mail[]>([]);
  return {
    mails,
    readAgain() {
      void fetch('/mail', { headers: { Accept: 'application/json' } })
        .then((answer) => answer.json())
        .then((all: readonly Mail[]) => mails.change(() => all))
        // The stack is being stopped; the next mail reads again.
        .catch(() => undefined);
    },
  };
}

/** Returns the code of a mail: it stands in its subject. */
export function codeIn({ subject }: Mail): string | undefined {
  return /\b\d{6,8}\b/.exec(subject)?.[0];
}
