import type { AuthEvent } from '@auth-account/contracts/events';
import { compactDecrypt, exportJWK, generateKeyPair } from 'jose';

type Secret = { readonly email: string } & Partial<Record<'code' | 'undo_token' | 'stop_token', string>>;

/** Everything that was mailed to users, by a mail server and by a webhook with its own key. */
export type Mailbox = Awaited<ReturnType<typeof createMailbox>>;

export async function createMailbox() {
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
    /** The public key, which is the webhook's `encrypt_to`. */
    encryptTo: await exportJWK(publicKey),
    /** Decrypts and stores the secret of an event, if it has one. */
    async open({ data }: Pick<AuthEvent, 'data'>): Promise<void> {
      if (!('secret' in data) || data.secret === undefined) return;
      const { plaintext } = await compactDecrypt(data.secret, privateKey);
      const { email, code, undo_token, stop_token }: Secret = JSON.parse(new TextDecoder().decode(plaintext));
      if (code !== undefined && 'challenge_id' in data) codes.set(data.challenge_id, { email, code });
      if (undo_token !== undefined && !usedTokens.has(undo_token)) undoTokens.set(email, undo_token);
      if (stop_token !== undefined && 'due_at' in data) stopTokens.set(`${email} ${data.due_at}`, stop_token);
    },
    /** Stores a mail. */
    take: ({ to, text }: { readonly to: string; readonly text: string }) =>
      void mails.set(to, `${mails.get(to) ?? ''}${text}`),
    /** Returns true if a mail to the address contained the text. */
    wasMailed: (email: string, text: string) => mails.get(email)?.includes(text) ?? false,
    /** Returns a challenge's code and email address, if the code has arrived. */
    codeOf: (challengeId: string) => codes.get(challengeId),
    /** Returns the token that stops the removal of a second factor at that time. */
    stopTokenOf: (email: string, dueAt: string) => stopTokens.get(`${email} ${dueAt}`),
    /**
     * Removes and returns the token of the newest notification to the email address of a change that can be undone. No
     * token comes twice.
     */
    takeUndoToken(email: string): string | undefined {
      const token = undoTokens.get(email);
      undoTokens.delete(email);
      if (token !== undefined) usedTokens.add(token);
      return token;
    },
  };
}
