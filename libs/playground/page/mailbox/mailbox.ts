import { createStore, type Store } from '@auth-account/page/store.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly at: string;
}

/** Mails of the local stack that came during this visit. */
export interface Mailbox {
  readonly mails: Pick<Store<readonly Mail[]>, 'read' | 'subscribe'>;
  readAgain(): void;
}

/** Returns the start of this visit, in milliseconds since 1970. Earlier mails belong to the phones of another visit. */
function visitBegan(): number {
  const began = Number(sessionStorage.getItem('visit-began') ?? Date.now());
  sessionStorage.setItem('visit-began', String(began));
  return began;
}

export function createMailbox(): Mailbox {
  const began = visitBegan();
  const mails = createStore<readonly Mail[]>([]);
  return {
    mails,
    readAgain() {
      void fetch('/mail', { headers: { Accept: 'application/json' } })
        .then((answer) => answer.json())
        .then((all: readonly Mail[]) => mails.change(() => all.filter(({ at }) => Date.parse(at) >= began)))
        // The stack is being stopped. After the next mail the page reads the mails again.
        .catch(() => undefined);
    },
  };
}

/** Returns the code in the subject of a mail. */
export function codeIn({ subject }: Mail): string | undefined {
  return /\b\d{6,8}\b/.exec(subject)?.[0];
}
