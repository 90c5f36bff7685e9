import { type FactorOperation, factorJudges } from './account-factors.ts';
import { ordered, type SignInOperation, signInJudges } from './account-sign-in.ts';
import {
  type AccountModel,
  asCaller,
  asReauthenticated,
  type Caller,
  type Credentials,
  changed,
  closed,
  codeRefused,
  countLive,
  end,
  endAll,
  isLive,
  type ModelCode,
  open,
  type Possible,
  type Reauthentication,
  tokenRefused,
  without,
  withoutSignInMethods,
} from './account-state.ts';

/** A request, or an operator's command. */
export type Operation =
  | ({
      readonly kind: 'log in';
      readonly session: string;
      readonly device: number;
      readonly trust?: string;
    } & Credentials)
  | { readonly kind: 'refresh' | 'refresh in a loop' | 'log out'; readonly session: string }
  | { readonly kind: 'log out everywhere'; readonly caller: Caller }
  | { readonly kind: 'end a session'; readonly caller: Caller; readonly session: string }
  | { readonly kind: 'open a stream'; readonly caller: Caller }
  | { readonly kind: 'move'; readonly caller: Caller; readonly to: string; readonly isNew: boolean }
  | { readonly kind: 'ask for a reset' | 'ask for a deletion'; readonly code: string; readonly email: string }
  | ({ readonly kind: 'ask for a change of address'; readonly code: string; readonly to: string } & Reauthentication)
  | { readonly kind: 'reset the password'; readonly code: string; readonly to: string }
  | ({ readonly kind: 'change the password'; readonly to: string } & Reauthentication)
  | { readonly kind: 'change the address'; readonly caller: Caller; readonly code: string; readonly change: string }
  | { readonly kind: 'undo a change of address'; readonly change: string }
  | ({ readonly kind: 'order the deletion' } & Reauthentication)
  | { readonly kind: 'order the deletion by code'; readonly code: string }
  | ({ readonly kind: 'restore' } & Credentials)
  | { readonly kind: 'disable' | 'enable' }
  | FactorOperation
  | SignInOperation;

type Kind = Operation['kind'];
type Judge<K extends Kind> = (
  account: AccountModel,
  operation: Extract<Operation, { readonly kind: K }>,
  begun: AccountModel,
) => Possible[];

function orderDeletion(account: AccountModel): AccountModel {
  return account.isLeaving ? account : { ...account, ...endAll(account, 'account_deleted'), isLeaving: true };
}

/** Judges a refresh, or the last refresh of a loop. */
function refresh(account: AccountModel, session: string): Possible[] {
  const { ended } = account.sessions[session] as AccountModel['sessions'][string];
  const outcome = ended === undefined ? `200 ${account.group}` : `401 IAD_JWT_REFRESH_STOLEN ${ended}`;
  return [{ outcome, after: account }];
}

/** Possible outcomes by kind of operation. `begun` is the account before all operations of the same step. */
const judges: { readonly [K in Kind]: Judge<K> } = {
  'log in'(account, { session, device, email, password, trust }, begun) {
    const refused = [{ outcome: '401 ERR-INVALID-CREDENTIALS', after: account }];
    if (email !== account.email || password !== account.password) return refused;
    const isTrusted = ({ trusted }: AccountModel) => trust !== undefined && trusted[device] === trust;
    const asksFactor = account.factor !== undefined && !isTrusted(account);
    const opened = closed(account) ?? open(account, device, session);
    const challenges = { ...account.challenges, [session]: device };
    const demand = { outcome: '403 ERR-SECOND-FACTOR-REQUIRED', after: { ...account, challenges } };
    const possible = asksFactor ? (closed(account) ?? [demand]) : opened;
    // A sign-in method was changed after the password was compared.
    const outdated = account.changes === begun.changes ? [] : refused;
    // The trust has ended, or begun anew, after its token was compared.
    const untrusted = asksFactor && isTrusted(begun) ? refused : [];
    return [...possible, ...outdated, ...untrusted];
  },
  refresh: (account, { session }) => refresh(account, session),
  'refresh in a loop': (account, { session }) => refresh(account, session),
  'log out'(account, { session }) {
    if (!isLive(account, session)) return [{ outcome: '404 ERR-LOGOUT-TARGET-NOT-FOUND', after: account }];
    return [{ outcome: '200', after: end(account, session, 'logged_out') }];
  },
  'log out everywhere': (account, { caller }, begun) =>
    asCaller(account, caller, begun, () => {
      const others = { ...account, ...endAll(account, 'revoked', caller.session) };
      const after = isLive(account, caller.session) ? end(others, caller.session, 'logged_out') : others;
      return [{ outcome: `200 ${countLive(account)}`, after }];
    }),
  'end a session': (account, { caller, session }, begun) =>
    asCaller(account, caller, begun, () => {
      const { device, ended } = account.sessions[session] as AccountModel['sessions'][string];
      const reason = session === caller.session ? 'logged_out' : 'revoked';
      const { [device]: _gone, ...others } = account.trusted;
      const trusted = reason === 'revoked' ? others : account.trusted;
      if (ended !== undefined) {
        // The trust ends first, and then the session may be found to have ended otherwise.
        const afters = isLive(begun, session) ? [account, { ...account, trusted }] : [account];
        return afters.map((after) => ({ outcome: '404 ERR-LOGOUT-TARGET-NOT-FOUND', after }));
      }
      return [{ outcome: '200', after: { ...end(account, session, reason), trusted } }];
    }),
  'open a stream': (account, { caller }, begun) =>
    asCaller(account, caller, begun, () => [{ outcome: 'open', after: account }]),
  move: (account, { caller, to }, begun) =>
    asCaller(account, caller, begun, () => {
      if (caller.moves !== account.moves) return [{ outcome: tokenRefused, after: account }];
      if (to === account.group) return [{ outcome: '400 IAD_GROUP_ALREADY_MEMBER', after: account }];
      return [{ outcome: `200 ${to}`, after: { ...account, group: to, moves: account.moves + 1 } }];
    }),
  'ask for a reset': (account, operation, begun) => ask(account, begun, operation, 'password_reset'),
  'ask for a deletion': (account, operation, begun) => ask(account, begun, operation, 'account_deletion'),
  'ask for a change of address': (account, operation, begun) =>
    asReauthenticated(account, operation, begun, (checked) => {
      const others = without(checked.codes, (_, { purpose }) => purpose === 'email_change');
      const codes = { ...others, [operation.code]: { purpose: 'email_change', email: operation.to } as const };
      return [{ outcome: '202', after: { ...checked, codes } }];
    }),
  'reset the password'(account, { code, to }) {
    if (account.codes[code] === undefined) return [{ outcome: codeRefused, after: account }];
    const left = account.isVerified ? account : withoutSignInMethods(account);
    const ended = endAll(account, 'password_changed');
    const after = { ...left, ...ended, ...changed(account), password: to, isVerified: true };
    return [{ outcome: '200', after }];
  },
  'change the password': (account, operation, begun) =>
    asReauthenticated(account, operation, begun, () => {
      const { session } = operation.caller;
      if (!isLive(account, session)) return [{ outcome: tokenRefused, after: account }];
      const after = { ...account, ...endAll(account, 'password_changed', session), ...changed(account) };
      return [{ outcome: `200 ${countLive(account) - 1}`, after: { ...after, password: operation.to } }];
    }),
  'change the address': (account, { caller, code, change }, begun) =>
    asCaller(account, caller, begun, () => {
      const email = account.codes[code]?.email;
      if (email === undefined) return [{ outcome: codeRefused, after: account }];
      if (!isLive(account, caller.session)) return [{ outcome: tokenRefused, after: account }];
      const { isVerified: wasVerified } = account;
      const former = [...account.former, { change, email: account.email, wasVerified, since: account.changes }];
      const ended = endAll(account, 'revoked', caller.session);
      const after = { ...account, ...ended, ...changed(account), email, former, isVerified: true };
      return [{ outcome: `200 ${countLive(account) - 1}`, after }];
    }),
  'undo a change of address'(account, { change }) {
    const index = account.former.findIndex((each) => each.change === change);
    if (index < 0) return [{ outcome: codeRefused, after: account }];
    const { email, wasVerified, since } = account.former[index] as AccountModel['former'][number];
    const all = withoutSignInMethods(account);
    const address = { email, former: account.former.slice(0, index), password: undefined, isVerified: true };
    const isLeaving = account.isLeaving && account.isDisabled;
    const ended = endAll(account, 'password_changed');
    // Sign-in methods that were added within a minute before the change go too.
    const later = withoutSignInMethods(account, since + 1);
    const isOrderKept = (later.factor?.removal?.since ?? 0) <= since;
    const lefts = wasVerified ? [all, ordered(later, undefined), ...(isOrderKept ? [later] : [])] : [all];
    return lefts.map((left) => ({
      outcome: '200',
      after: { ...left, ...ended, ...changed(account), ...address, isLeaving },
    }));
  },
  'order the deletion': (account, operation, begun) =>
    asReauthenticated(account, operation, begun, (checked) => {
      const isOver = !checked.isLeaving && !isLive(checked, operation.caller.session);
      return [isOver ? { outcome: tokenRefused, after: checked } : { outcome: '202', after: orderDeletion(checked) }];
    }),
  'order the deletion by code'(account, { code }) {
    if (account.codes[code] === undefined) return [{ outcome: codeRefused, after: account }];
    const codes = without(account.codes, (name) => name === code);
    const after = { ...orderDeletion(account), codes };
    return [
      { outcome: '202', after: account.isVerified ? after : { ...after, ...changed(account), password: undefined } },
    ];
  },
  restore(account, { email, password }) {
    if (email !== account.email || password !== account.password) {
      return [{ outcome: '401 ERR-INVALID-CREDENTIALS', after: account }];
    }
    if (account.isDisabled) return [{ outcome: '403 ERR-ACCOUNT-DISABLED', after: account }];
    return [{ outcome: '200', after: { ...account, isLeaving: false } }];
  },
  disable(account) {
    if (account.isDisabled) return [{ outcome: 'refused', after: account }];
    return [{ outcome: 'done', after: { ...account, ...endAll(account, 'account_disabled'), isDisabled: true } }];
  },
  enable(account) {
    if (!account.isDisabled) return [{ outcome: 'refused', after: account }];
    return [{ outcome: 'done', after: { ...account, isDisabled: false } }];
  },
  ...factorJudges,
  ...signInJudges,
};

/**
 * Judges a request for a code. An unknown address gets the same answer. If the account's email address was changed
 * after the request came, the request may still open a code, which is sent to the account's new email address.
 */
function ask(
  account: AccountModel,
  begun: AccountModel,
  wanted: PendingRequest,
  purpose: ModelCode['purpose'],
): Possible[] {
  const opened = { ...account, codes: { ...account.codes, [wanted.code]: { purpose } } };
  const afters = [
    ...([account.email, begun.email].includes(wanted.email) ? [opened] : []),
    ...(account.email === wanted.email ? [] : [account]),
  ];
  return afters.map((after) => ({ outcome: '202', after }));
}

type PendingRequest = Pick<Extract<Operation, { readonly kind: 'ask for a reset' }>, 'code' | 'email'>;

function judge<K extends Kind>(
  account: AccountModel,
  operation: Extract<Operation, { readonly kind: K }>,
  begun: AccountModel,
): Possible[] {
  return judges[operation.kind as K](account, operation, begun);
}

/** An operation with its outcome. */
export interface Done {
  readonly operation: Operation;
  readonly outcome: string;
}

/** Returns the accounts without those that differ only in the order of their parts. */
export function distinct(accounts: readonly AccountModel[]): AccountModel[] {
  const inOrder = (_: string, value: unknown) =>
    value instanceof Object && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value;
  return [...new Map(accounts.map((account) => [JSON.stringify(account, inOrder), account])).values()];
}

/**
 * Returns the accounts that simultaneous operations with these outcomes may leave. Each takes effect at one moment, in
 * any order. The list is empty if no order explains the outcomes.
 */
export function explain(begun: AccountModel, done: readonly Done[]): AccountModel[] {
  const go = (account: AccountModel, left: readonly Done[]): AccountModel[] => {
    if (left.length === 0) return [account];
    return left.flatMap((each) => {
      const others = left.filter((other) => other !== each);
      const possible = judge(account, each.operation, begun).filter(({ outcome }) => outcome === each.outcome);
      return possible.flatMap(({ after }) => go(after, others));
    });
  };
  return distinct(go(begun, done));
}
