import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Logger } from '@auth-account/telemetry';

/** Passwords that nobody may choose. */
export interface PasswordBlockList {
  readonly size: number;
  has(password: string): boolean;
}

/**
 * Creates a list of public passwords (NIST SP 800-63B-4, section 3.1.1.2: common, expected or compromised passwords).
 * They are compared after NFKC and without regard to case, because most people put their capital letter in the same
 * place.
 *
 * For each password, 64 bits of its SHA-256 are kept. In a list of a million, one other password in 10^13 is mistaken
 * for a listed one. No user's password is stored this way.
 */
function createPasswordBlockList(passwords: Iterable<string>): PasswordBlockList {
  const digests = digestsOf(passwords);
  return { size: digests.length, has: (password) => isAmong(digests, digestOf(password)) };
}

export interface BlockListSources {
  readonly name: 'none' | 'common';
  /** Path of an additional list. */
  readonly file?: string | undefined;
}

/** Reads the configured lists, and looks passwords up in all of them. */
export async function loadBlockLists(
  { name, file }: BlockListSources,
  logger: Logger,
): Promise<(password: string) => boolean> {
  const lists: PasswordBlockList[] = [];
  const add = (source: string, list: PasswordBlockList) => {
    logger.info({ source, passwords: list.size }, 'blocked passwords read');
    lists.push(list);
  };
  if (name === 'common') add(name, await loadCommonPasswords());
  if (file !== undefined) add(file, await loadPasswordBlockList(file));
  return (password) => lists.some((list) => list.has(password));
}

/**
 * Shortest allowed password, in code points (docs/specification/registration.md, "Passwords"). Shorter passwords need
 * no entry.
 */
const shortest = 8;

/** Reads the list of common passwords in zxcvbn-ts. Only this call imports the package, because it takes 20 MB. */
export async function loadCommonPasswords(): Promise<PasswordBlockList> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  const passwords = dictionary['passwords-common'];
  return createPasswordBlockList(
    passwords.filter((password) => Array.from(password.normalize('NFKC')).length >= shortest),
  );
}

/** Reads a list from UTF-8 text, one password a line. Throws if the file can't be read, is not UTF-8 or is empty. */
export async function loadPasswordBlockList(path: string): Promise<PasswordBlockList> {
  const list = createPasswordBlockList(linesOf(await readText(path)));
  if (list.size === 0) throw new Error(`the list of blocked passwords ${path} is empty`);
  return list;
}

async function readText(path: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (cause) {
    throw new Error(`the list of blocked passwords ${path} cannot be read as UTF-8 text`, { cause });
  }
}

function* linesOf(text: string): Iterable<string> {
  for (const [line] of text.matchAll(/[^\r\n]+/g)) yield line;
}

/** Returns the digests, sorted and without duplicates. */
function digestsOf(passwords: Iterable<string>): BigUint64Array {
  let digests = new BigUint64Array(1_024);
  let count = 0;
  for (const password of passwords) {
    if (count === digests.length) {
      const larger = new BigUint64Array(2 * count);
      larger.set(digests);
      digests = larger;
    }
    digests[count] = digestOf(password);
    count += 1;
  }
  const sorted = digests.subarray(0, count).sort();
  return sorted.filter((digest, index) => index === 0 || digest !== sorted[index - 1]);
}

function digestOf(password: string): bigint {
  return hash('sha256', password.normalize('NFKC').toLowerCase(), 'buffer').readBigUInt64BE();
}

function isAmong(sorted: BigUint64Array, digest: bigint): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0n) < digest) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === digest;
}
