/** A session of the model, with its device and the reason that a refresh gives for its end. */
interface ModelSession {
  readonly device: number;
  readonly ended?: string;
}

/** A code that is still open. */
interface ModelCode {
  readonly purpose: 'password_reset' | 'account_deletion' | 'email_change';
  /** The new address of an `email_change`. */
  readonly email?: string;
}

/** A model of docs/specification/account.md without stores. It has one account, and names for ids and secrets. */
export interface AccountModel {
  readonly email: string;
  /** undefined if it is void until a reset. */
  readonly password: string | undefined;
  /** True if a reset or a change of the address has verified it. */
  readonly isVerified: boolean;
  readonly isDisabled: boolean;
  /** True if the deletion is ordered and can still be undone. */
  readonly isLeaving: boolean;
  readonly group: string;
  /** Number of changes of group so far. Access tokens from before the last change are refused. */
  readonly moves: number;
  /** Number of changes of the password and of the address so far. */
  readonly changes: number;
  readonly sessions: Readonly<Record<string, ModelSession>>;
  /** Open codes. */
  readonly codes: Readonly<Record<string, ModelCode>>;
  /** Changes of the address that can be undone, oldest first. */
  readonly former: readonly { readonly change: string; readonly email: string }[];
}

/** The session of an access token, and the number of changes of group before the token was signed. */
export interface Caller {
  readonly session: string;
  readonly moves: number;
}

/** A request, or an operator's command. */
export type Operation =
  | ({ readonly kind: 'log in'; readonly session: string; readonly device: number } & Credentials)
  | { readonly kind: 'refresh' | 'refresh in a loop' | 'log out'; readonly session: string }
  | { readonly kind: 'log out everywhere'; readonly caller: Caller }
  | { readonly kind: 'end a session'; readonly caller: Caller; readonly session: string }
  | { readonly kind: 'open a stream'; readonly caller: Caller }
  | { readonly kind: 'move'; readonly caller: Caller; readonly to: string; readonly isNew: boolean }
  | { readonly kind: 'ask for a reset' | 'ask for a deletion'; readonly code: string; readonly email: string }
  | ({ readonly kind: 'ask for a change of address'; readonly code: string; readonly to: string } & Fresh)
  | { readonly kind: 'reset the password'; readonly code: string; readonly to: string }
  | ({ readonly kind: 'change the password'; readonly to: string } & Fresh)
  | { readonly kind: 'change the address'; readonly caller: Caller; readonly code: string; readonly change: string }
  | { readonly kind: 'undo a change of address'; readonly change: string }
  | ({ readonly kind: 'order the deletion' } & Fresh)
  | { readonly kind: 'order the deletion by code'; readonly code: string }
  | ({ readonly kind: 'restore' } & Credentials)
  | { readonly kind: 'disable' | 'enable' };

interface Credentials {
  readonly email: string;
  readonly password: string;
}

interface Fresh {
  readonly caller: Caller;
  readonly password: string;
}

/** A possible outcome of an operation, with the account after it. */
interface Possible {
  readonly outcome: string;
  readonly after: AccountModel;
}

type Kind = Operation['kind'];
type Judge<K extends Kind> = (
  account: AccountModel,
  operation: Extract<Operation, { readonly kind: K }>,
  begun: AccountModel,
) => Possible[];

const tokenRefused = '401 IAD_JWT_ACCESS_INVALID';
const codeRefused = '403 ERR-CODE-INVALID';
const passwordRefused = '403 ERR-REAUTHENTICATION-FAILED';

const isLive = ({ sessions }: AccountModel, session: string) =>
  sessions[session] !== undefined && sessions[session].ended === undefined;
const isGood = (account: AccountModel, { session, moves }: Caller) =>
  isLive(account, session) && moves === account.moves;

/** Ends all sessions but `spare`. */
function endAll(account: AccountModel, reason: string, spare?: string): Pick<AccountModel, 'sessions'> {
  const entries = Object.entries(account.sessions).map(([name, session]) => {
    return [name, name === spare || session.ended !== undefined ? session : { ...session, ended: reason }] as const;
  });
  return { sessions: Object.fromEntries(entries) };
}

function end(account: AccountModel, name: string, reason: string): AccountModel {
  const session = account.sessions[name] as ModelSession;
  return { ...account, sessions: { ...account.sessions, [name]: { ...session, ended: reason } } };
}

const countLive = ({ sessions }: AccountModel) =>
  Object.values(sessions).filter(({ ended }) => ended === undefined).length;

const without = (codes: AccountModel['codes'], isOut: (name: string, code: ModelCode) => boolean) =>
  Object.fromEntries(Object.entries(codes).filter(([name, code]) => !isOut(name, code)));

/** Counts a change of a credential, which voids every open code. */
const changed = ({ changes }: AccountModel) => ({ changes: changes + 1, codes: {} });

/** Judges an operation that checks the access token first. Its session may end or move after that check. */
function asCaller(account: AccountModel, caller: Caller, begun: AccountModel, go: () => Possible[]): Possible[] {
  if (isGood(account, caller)) return go();
  const refusal = { outcome: tokenRefused, after: account };
  return isGood(begun, caller) ? [refusal, ...go()] : [refusal];
}

/** Judges an operation that also checks the current password. A later change of any credential voids this check. */
function asFresh(account: AccountModel, { caller, password }: Fresh, begun: AccountModel, go: () => Possible[]) {
  return asCaller(account, caller, begun, () => {
    const refusal = { outcome: passwordRefused, after: account };
    if (password !== account.password) return [refusal];
    return account.changes === begun.changes ? go() : [refusal, ...go()];
  });
}

function orderDeletion(account: AccountModel): AccountModel {
  return account.isLeaving ? account : { ...account, ...endAll(account, 'account_deleted'), isLeaving: true };
}

/** Judges a refresh, or the last refresh of a loop. */
function refresh(account: AccountModel, session: string): Possible[] {
  const { ended } = account.sessions[session] as ModelSession;
  const outcome = ended === undefined ? `200 ${account.group}` : `401 IAD_JWT_REFRESH_STOLEN ${ended}`;
  return [{ outcome, after: account }];
}

/** Possible outcomes by kind of operation. `begun` is the account before all operations of the same step. */
const judges: { readonly [K in Kind]: Judge<K> } = {
  'log in'(account, { session, device, email, password }) {
    if (email !== account.email || password !== account.password) {
      return [{ outcome: '401 ERR-INVALID-CREDENTIALS', after: account }];
    }
    if (account.isDisabled) return [{ outcome: '403 ERR-ACCOUNT-DISABLED', after: account }];
    if (account.isLeaving) return [{ outcome: '403 ERR-ACCOUNT-DELETION-SCHEDULED', after: account }];
    const replaced = Object.entries(account.sessions).find(
      ([name, each]) => each.device === device && isLive(account, name),
    );
    const before = replaced === undefined ? account : end(account, replaced[0], 'replaced');
    const after = { ...before, sessions: { ...before.sessions, [session]: { device } } };
    return [{ outcome: `200 ${account.group}`, after }];
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
      if (!isLive(account, session)) return [{ outcome: '404 ERR-LOGOUT-TARGET-NOT-FOUND', after: account }];
      const reason = session === caller.session ? 'logged_out' : 'revoked';
      return [{ outcome: '200', after: end(account, session, reason) }];
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
    asFresh(account, operation, begun, () => {
      const others = without(account.codes, (_, { purpose }) => purpose === 'email_change');
      const codes = { ...others, [operation.code]: { purpose: 'email_change', email: operation.to } as const };
      return [{ outcome: '202', after: { ...account, codes } }];
    }),
  'reset the password'(account, { code, to }) {
    if (account.codes[code] === undefined) return [{ outcome: codeRefused, after: account }];
    const ended = endAll(account, 'password_changed');
    const after = { ...account, ...ended, ...changed(account), password: to, isVerified: true };
    return [{ outcome: '200', after }];
  },
  'change the password': (account, operation, begun) =>
    asFresh(account, operation, begun, () => {
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
      const former = [...account.former, { change, email: account.email }];
      const ended = endAll(account, 'revoked', caller.session);
      const after = { ...account, ...ended, ...changed(account), email, former, isVerified: true };
      return [{ outcome: `200 ${countLive(account) - 1}`, after }];
    }),
  'undo a change of address'(account, { change }) {
    const index = account.former.findIndex((each) => each.change === change);
    if (index < 0) return [{ outcome: codeRefused, after: account }];
    const { email } = account.former[index] as AccountModel['former'][number];
    const address = { email, former: account.former.slice(0, index), password: undefined, isVerified: true };
    const isLeaving = account.isLeaving && account.isDisabled;
    const ended = endAll(account, 'password_changed');
    return [{ outcome: '200', after: { ...account, ...ended, ...changed(account), ...address, isLeaving } }];
  },
  'order the deletion': (account, operation, begun) =>
    asFresh(account, operation, begun, () => {
      const isOver = !account.isLeaving && !isLive(account, operation.caller.session);
      return [isOver ? { outcome: tokenRefused, after: account } : { outcome: '202', after: orderDeletion(account) }];
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
};

/**
 * Judges a request for a code. An unknown address gets the same answer. If the account's address was changed after the
 * request came, the request may still open a code, which is sent to the account's new address.
 */
function ask(account: AccountModel, begun: AccountModel, wanted: Asked, purpose: ModelCode['purpose']): Possible[] {
  const opened = { ...account, codes: { ...account.codes, [wanted.code]: { purpose } } };
  const afters = [
    ...([account.email, begun.email].includes(wanted.email) ? [opened] : []),
    ...(account.email === wanted.email ? [] : [account]),
  ];
  return afters.map((after) => ({ outcome: '202', after }));
}

type Asked = Pick<Extract<Operation, { readonly kind: 'ask for a reset' }>, 'code' | 'email'>;

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
  const found = go(begun, done).map((account) => [JSON.stringify(account), account] as const);
  return [...new Map(found).values()];
}
