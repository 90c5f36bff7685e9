import { setTimeout as delay } from 'node:timers/promises';
import * as Type from '@auth-account/contracts/type';
import { Agent, request } from 'undici';
import { expectShape, reasonOf } from './api-client.ts';
import { ProbeFailure } from './step-log.ts';
import { type Patience, within } from './within.ts';

/** Access to the mailbox in which the probe reads the mails to its own email addresses. */
export interface MailboxAccess {
  readonly url: string;
  /** Bearer token, if the mailbox asks for one. */
  readonly token: string | undefined;
}

/** Answer of a mailbox, in the format of the local stack's `/mail`. */
const Mails = Type.Array(Type.Object({ to: Type.String(), subject: Type.String(), text: Type.String() }));

export interface Mailbox {
  /** Waits for a mail to that email address with a code that was not returned before. */
  nextCode(to: string): Promise<string>;
  /** Closes its connections. */
  close(): Promise<void>;
}

const pauseMs = 500;
const answerLimit = 4 * 1_024 * 1_024;
/** Matches the contract's `Code` if no further digits are beside it. */
const codes = /(?<![0-9])[0-9]{8}(?![0-9])/g;

/** Opens the mailbox. Its failures name neither mails nor the token. */
export function openMailbox({ url, token }: MailboxAccess, patience: Patience): Mailbox {
  const dispatcher = new Agent({ maxResponseSize: answerLimit });
  const seen = new Set<string>();
  const headers = {
    accept: 'application/json',
    'user-agent': 'auth-account-probe',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };

  async function read(signal: AbortSignal) {
    try {
      const { statusCode, body } = await request(url, { dispatcher, headers, signal });
      const text = await body.text();
      if (statusCode !== 200) throw new ProbeFailure(`the mailbox answered ${statusCode}`);
      return expectShape(Mails, JSON.parse(text));
    } catch (error) {
      if (error instanceof ProbeFailure) throw error;
      const isText = error instanceof SyntaxError;
      const fault = isText ? 'the answer of the mailbox is not JSON' : `no answer from the mailbox: ${reasonOf(error)}`;
      throw new ProbeFailure(fault, { cause: error });
    }
  }

  return {
    nextCode: (to) =>
      within(patience, async (signal) => {
        for (;;) {
          const found = (await read(signal)).filter((mail) => mail.to.toLowerCase() === to).flatMap(codesOf);
          const code = found.find((one) => !seen.has(one));
          if (code !== undefined) {
            seen.add(code);
            return code;
          }
          await delay(pauseMs, undefined, { signal });
        }
      }),
    close: () => dispatcher.destroy(),
  };
}

/** Finds the codes in a mail, but not in the email address, which may itself contain eight digits. */
function codesOf({ to, subject, text }: { readonly to: string; readonly subject: string; readonly text: string }) {
  return `${subject}\n${text}`.replaceAll(to, '').match(codes) ?? [];
}
