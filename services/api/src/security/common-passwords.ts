import { createPasswordBlockList, type PasswordBlockList } from './password-block-list.ts';

/** A shorter one is refused for its length (decisions, "Registration"). In code points. */
const shortest = 8;

/** Reads the list of common passwords that zxcvbn-ts keeps. It is imported by this call and not before: it takes 20 MB. */
export async function loadCommonPasswords(): Promise<PasswordBlockList> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  const passwords = dictionary['passwords-common'];
  return createPasswordBlockList(
    passwords.filter((password) => Array.from(password.normalize('NFKC')).length >= shortest),
  );
}
