import type { LimitKeys } from '@auth-account/redis';
import type { RequestLimit } from './request-limit.ts';

/** The account, device and network of a login attempt. */
export interface LoginIdentity {
  /** The email address in the form in which addresses are compared. There may be no account with it. */
  readonly emailKey: string;
  /** Names that which the device holds (`heldBy`), or a session. Without it, no device is remembered. */
  readonly holder: string | undefined;
  /** The client's network. */
  readonly prefix: string;
  /** Given if the password is sent with a session: the device is known by that. */
  readonly session?: {
    /** True if the session's user has shown the password in it. */
    readonly hasPassword: boolean;
  };
  /** Given if the account had another email address before. */
  readonly former?: {
    readonly emailKey: string;
    /** Names of the devices and sessions whose wrong verdicts go on, like those of the network and of everybody. */
    readonly holders: readonly (string | undefined)[];
  };
}

/** Redis keys that a login attempt uses, and the tags of its device, network and account. */
interface LoginNames {
  readonly names: readonly string[];
  readonly device: string;
  readonly network: string;
  readonly account: string;
  /** Fields of the former email address that go on, each followed by its name for the new one. */
  readonly kept: readonly string[];
}

/** Creates a function that returns the Redis keys of a login attempt. They are computed once for all its steps. */
export function createNamesOf(keys: LimitKeys, networks: RequestLimit): (identity: LoginIdentity) => LoginNames {
  const known = new WeakMap<LoginIdentity, LoginNames>();
  return (identity) => {
    const earlier = known.get(identity);
    if (earlier !== undefined) return earlier;
    const { emailKey, holder, prefix, former } = identity;
    const account = keys.tagOf('account', emailKey);
    const network = keys.tagOf('account-address', emailKey, prefix);
    const device = holderTag(keys, emailKey, holder);
    const owed = [device || network, network, account].flatMap((tag) => [keys.delayOf(tag), keys.failuresOf(tag)]);
    const names = [
      networks.keyOf(prefix),
      keys.knownOf(account),
      ...owed,
      keys.accountLruOf('login'),
      keys.provenOf(account),
      keys.wrongOf('password', account),
      keys.accountLruOf('password'),
      ...[keys.factorKnownOf(account), keys.wrongOf('factor', account)],
    ];
    const kept: string[] = [];
    if (former !== undefined) {
      const { emailKey: had, holders } = former;
      const before = keys.tagOf('account', had);
      names.push(keys.provenOf(before), keys.wrongOf('password', before), keys.wrongOf('factor', before));
      kept.push('all', 'all', 'since', 'since', keys.tagOf('account-address', had, prefix), network);
      for (const each of holders) kept.push(holderTag(keys, had, each), holderTag(keys, emailKey, each));
    }
    const made = { names, device, network, account, kept };
    known.set(identity, made);
    return made;
  };
}

/** Returns the tag of what a device holds. It is empty for a device that holds nothing, and no account knows that tag. */
export function holderTag(keys: LimitKeys, account: string, holder: string | undefined): string {
  return holder === undefined ? '' : keys.tagOf('account-holder', account, holder);
}
