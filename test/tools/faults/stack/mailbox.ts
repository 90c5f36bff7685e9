import type { AuthEvent } from '@auth-account/contracts/events';
import { compactDecrypt, exportJWK, generateKeyPair, type JWK } from 'jose';
import type { Mailbox } from '../load/app.ts';

/** A mailbox that is filled by a mail server, and by a webhook with its own key. */
export interface FilledMailbox extends Mailbox {
  /** The public key, which is the webhook's `encrypt_to`. */
  readonly encryptTo: JWK;
  /** Decrypts and stores the secret of an event, if it has one. */
  open(event: AuthEvent): Promise<void>;
  /** Stores a mail. */
  take(mail: { readonly to: string; readonly text: string }): void;
}

type Secret = {
  readonly email: string;
  readonly code?: string;
  readonly undo_token?: string;
  readonly stop_token?: string;
};

export async function createMailbox(): Promise<FilledMailbox> {
  const { publicKey, privateKey } = await generateKeyPair('ECDH-ES', { crv: 'P-256' });
  const codes = new Map<string, { readonly email: string; readonly code: string }>();
  const undoTokens = new Map<string, string>();
  /** Tokens that stop removals, by the email address and the time of the removal. */
  const stopTokens = new Map<string, string>();
  /** Tokens that were used, which are kept because their notification may be delivered again. */
  const usedTokens = new Set<string>();
  /** The text of the mails to each email address. */
  const mails = new Map<string, string>();
  return {
    encryptTo: await exportJWK(publicKey),
    async open({ data }) {
      if (!('secret' in data) || data.secret === undefined) return;
      const { plaintext } = await compactDecrypt(data.secret, privateKey);
      const { email, code, undo_token, stop_token }: Secret = JSON.parse(new TextDecoder().decode(plaintext));
      if (code !== undefined && 'challenge_id' in data) codes.set(data.challenge_id, { email, code });
      if (undo_token !== undefined && !usedTokens.has(undo_token)) undoTokens.set(email, undo_token);
      if (stop_token !== undefined && 'due_at' in data) stopTokens.set(`${email} ${data.due_at}`, stop_token);
    },
    take: ({ to, text }) => void mails.set(to, `${mails.get(to) ?? ''}${text}`),
    wasMailed: (email, code) => mails.get(email)?.includes(code) ?? false,
    codeOf: (challengeId) => codes.get(challengeId),
    stopTokenOf: (email, dueAt) => stopTokens.get(`${email} ${dueAt}`),
    takeUndoToken(email) {
      const token = undoTokens.get(email);
      undoTokens.delete(email);
      if (token !== undefined) usedTokens.add(token);
      return token;
    },
  };
}
