import type { Refusal } from './refusal.ts';

/** Whose try it is. */
export interface LoginIdentity {
  /** The key under which the address is unique, whether there is such an account or not. */
  readonly emailKey: string;
  /** In lower case. A new one, where none came, is one that the account does not know. */
  readonly deviceId: string;
  /** The client's network. */
  readonly prefix: string;
}

/**
 * The steps of a try. Each gives what stands against it, if anything does, and never fails.
 *
 * The two after the hash look again: of tries that come at once only as many get a verdict as the rules allow, and the
 * others learn nothing, whether their password was right or not.
 */
export interface LoginSteps {
  /** Before the hash. */
  check(identity: LoginIdentity): Promise<Refusal | undefined>;
  /** The password was wrong, or there is no such account: counts it. */
  fail(identity: LoginIdentity): Promise<Refusal | undefined>;
  /** The password was right: the account knows this device and network from now on, and they owe nothing. */
  succeed(identity: LoginIdentity): Promise<Refusal | undefined>;
  /**
   * The account has just been made: it knows this device and network, and whatever failed at its address before was no
   * guess at it. Nothing stands against it.
   */
  register(identity: LoginIdentity): Promise<Refusal | undefined>;
}
