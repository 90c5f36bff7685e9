import type { AuthEvent } from '@auth-account/contracts/events';
import { compactDecrypt, exportJWK, generateKeyPair, type JWK } from 'jose';

/** Everything that was mailed to users, by a mail server and by a webhook with its own key. */
export interface Mailbox {
  /** The public key, which is the webhook's `encrypt_to`. */
  readonly encryptTo: JWK;
  /** Decrypts and stores the secret of an event, if it has one. */
  open(event: Pick<AuthEvent, 'data'>): Promise<void>;
  /** Stores a mail. */
  take(mail: { readonly to: string; readonly text: string }): void;
  /** Returns a challenge's code and email address, if the code has arrived. */
  codeOf(challengeId: string): { readonly email: string; readonly code: string } | undefined;
  /** Returns true if a mail to the address contained the text. */
  wasMailed(email: string, text: string): boolean;
  /**
   * Removes and returns the token of the newest notification to the email address of a change that can be undone. No
   * token comes twice.
   */
  takeUndoToken(email: string): string | undefined;
  /** Returns the token that stops the removal of a second factor at that time. */
  stopTokenOf(email: string, dueAt: string): string | undefined;
}

type Secret = { readonly email: string } & Partial<Record<'code' | 'undo_token' | 'stop_token', string>>;

export async function createMailbox(): Promise<Mailbox> {
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
