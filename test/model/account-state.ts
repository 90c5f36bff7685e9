/** A session of the model, with its device and the reason that a refresh gives for its end. */
export interface ModelSession {
  readonly device: number;
  readonly ended?: string;
}

/** A code that is still open. */
export interface ModelCode {
  readonly purpose: 'password_reset' | 'account_deletion' | 'email_change' | 'second_factor_removal';
  /** The new email address of an `email_change`, and the present one of a `second_factor_removal`. */
  readonly email?: string;
}

/** A model of docs/specification/account.md without stores. It has one account, and names for ids and secrets. */
export interface AccountModel {
  readonly email: string;
  /** undefined if it is unusable until a reset. */
  readonly password: string | undefined;
  /** True if a reset or a change of the email address has verified it. */
  readonly isVerified: boolean;
  readonly isDisabled: boolean;
  /** True if the deletion is ordered and can still be undone. */
  readonly isLeaving: boolean;
  readonly group: string;
  /** Number of changes of group so far. Access tokens from before the last change are refused. */
  readonly moves: number;
  /** Number of changes of the password and of the email address so far. */
  readonly changes: number;
  readonly sessions: Readonly<Record<string, ModelSession>>;
  /** Open codes. */
  readonly codes: Readonly<Record<string, ModelCode>>;
  /** Changes of the email address that can be undone, oldest first. */
  readonly former: readonly {
    readonly change: string;
    readonly email: string;
    readonly wasVerified: boolean;
    readonly since: number;
  }[];
  /** The second factor, with the recovery codes that are left and the order of its removal; undefined if it is off. */
  readonly factor?:
    | {
        readonly codes: readonly string[];
        readonly since: number;
        readonly removal?: { readonly order: string; readonly since: number };
      }
    | undefined;
  /** The authenticator app that is being added. */
  readonly pending?: string | undefined;
  /** The devices of challenges for the second factor. */
  readonly challenges: Readonly<Record<string, number>>;
  /** The sessions of step-up tokens that were not used. */
  readonly tokens: Readonly<Record<string, string>>;
  /** The tokens of trusted devices, by device. */
  readonly trusted: Readonly<Record<number, string>>;
  /** Passkeys, with the number of changes when they were added. */
  readonly passkeys: Readonly<Record<string, number>>;
  /** Identities at a provider, with the number of changes when they were linked. */
  readonly identities: Readonly<Record<string, number>>;
}

/** The session of an access token, and the number of changes of group before the token was signed. */
export interface Caller {
  readonly session: string;
  readonly moves: number;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** A caller, with the password or the step-up token that shows who is there. */
export interface Reauthentication {
  readonly caller: Caller;
  readonly password?: string;
  readonly token?: string;
}

/** A possible outcome of an operation, with the account after it. */
export interface Possible {
  readonly outcome: string;
  readonly after: AccountModel;
}

export const tokenRefused = '401 IAD_JWT_ACCESS_INVALID';
export const codeRefused = '403 ERR-CODE-INVALID';
const passwordRefused = '403 ERR-REAUTHENTICATION-FAILED';
const stepUpRefused = '403 ERR-STEP-UP-REQUIRED';

export const isLive = ({ sessions }: AccountModel, session: string) =>
  sessions[session] !== undefined && sessions[session].ended === undefined;
const isGood = (account: AccountModel, { session, moves }: Caller) =>
  isLive(account, session) && moves === account.moves;

/** Ends all sessions but `spare`, and the trust in all devices but that of `spare`. */
export function endAll(account: AccountModel, reason: string, spare = ''): Pick<AccountModel, 'sessions' | 'trusted'> {
  const kept = account.sessions[spare]?.device;
  const trusted = Object.fromEntries(Object.entries(account.trusted).filter(([device]) => Number(device) === kept));
  const entries = Object.entries(account.sessions).map(([name, session]) => {
    return [name, name === spare || session.ended !== undefined ? session : { ...session, ended: reason }] as const;
  });
  return { sessions: Object.fromEntries(entries), trusted };
}

export function end(account: AccountModel, name: string, reason: string): AccountModel {
  const session = account.sessions[name] as ModelSession;
  return { ...account, sessions: { ...account.sessions, [name]: { ...session, ended: reason } } };
}

export const countLive = ({ sessions }: AccountModel) =>
  Object.values(sessions).filter(({ ended }) => ended === undefined).length;

export const without = (codes: AccountModel['codes'], isOut: (name: string, code: ModelCode) => boolean) =>
  Object.fromEntries(Object.entries(codes).filter(([name, code]) => !isOut(name, code)));

/**
 * Counts a change of a credential, which revokes every challenge and step-up token, the trust in all devices, and every
 * open code except those for a lost second factor.
 */
export const changed = ({ changes, codes }: AccountModel) => ({
  codes: without(codes, (_, { purpose }) => purpose !== 'second_factor_removal'),
  ...{ changes: changes + 1, challenges: {}, tokens: {}, trusted: {} },
  pending: undefined,
});

/** Judges an operation that checks the access token first. Its session may end or move after that check. */
export function asCaller(account: AccountModel, caller: Caller, begun: AccountModel, go: () => Possible[]): Possible[] {
  if (isGood(account, caller)) return go();
  const refusal = { outcome: tokenRefused, after: account };
  return isGood(begun, caller) ? [refusal, ...go()] : [refusal];
}

/**
 * Judges an operation that also checks the current password, or uses a step-up token up. A later change of any
 * credential invalidates this check. `go` gets the account without the used token.
 */
export function asReauthenticated(
  account: AccountModel,
  { caller, password, token }: Reauthentication,
  begun: AccountModel,
  go: (checked: AccountModel) => Possible[],
): Possible[] {
  const isChanged = account.changes !== begun.changes;
  const refused = (...outcomes: string[]) => outcomes.map((outcome) => ({ outcome, after: account }));
  const byToken = (used: string) => {
    const { [used]: session, ...tokens } = account.tokens;
    if (session === caller.session) return go({ ...account, tokens });
    return refused(stepUpRefused, ...(isChanged ? [passwordRefused] : []));
  };
  const byPassword = () => {
    const isEnough = account.factor === undefined;
    const right = isEnough && password === account.password ? go(account) : undefined;
    if (isChanged) return [...refused(stepUpRefused, passwordRefused), ...(right ?? [])];
    return right ?? refused(isEnough ? passwordRefused : stepUpRefused);
  };
  return asCaller(account, caller, begun, () => (token === undefined ? byPassword() : byToken(token)));
}

/**
 * Judges a removal of a sign-in method like {@link asReauthenticated}. Its check also stands if other sign-in methods,
 * or the second factor, were changed since: only a change of the password or the email address invalidates it.
 */
export function asRemover(
  account: AccountModel,
  reauthentication: Reauthentication,
  begun: AccountModel,
  go: (checked: AccountModel) => Possible[],
): Possible[] {
  const { caller, password, token } = reauthentication;
  const wasRight =
    token === undefined
      ? begun.factor === undefined && password === begun.password
      : begun.tokens[token] === caller.session;
  const stands = wasRight && account.password === begun.password && account.email === begun.email;
  const late = stands && account.changes !== begun.changes ? asCaller(account, caller, begun, () => go(account)) : [];
  return [...asReauthenticated(account, reauthentication, begun, go), ...late];
}

/** Opens a session on the device, in place of the session that the device has. */
export function open(account: AccountModel, device: number, session: string): Possible[] {
  const replaced = Object.entries(account.sessions).find(
    ([name, each]) => each.device === device && isLive(account, name),
  );
  const before = replaced === undefined ? account : end(account, replaced[0], 'replaced');
  const after = { ...before, sessions: { ...before.sessions, [session]: { device } } };
  return [{ outcome: `200 ${account.group}`, after }];
}

/** Returns the refusal of every login to the account; undefined if there is none. */
export function closed(account: AccountModel): Possible[] | undefined {
  if (account.isDisabled) return [{ outcome: '403 ERR-ACCOUNT-DISABLED', after: account }];
  return account.isLeaving ? [{ outcome: '403 ERR-ACCOUNT-DELETION-SCHEDULED', after: account }] : undefined;
}

/** Removes the sign-in methods that somebody else may have added: those since a number of changes. */
export function withoutSignInMethods(account: AccountModel, since = 0): AccountModel {
  const keptOf = (signInMethods: AccountModel['passkeys']) =>
    Object.fromEntries(Object.entries(signInMethods).filter(([, added]) => added < since));
  const left = { passkeys: keptOf(account.passkeys), identities: keptOf(account.identities) };
  const isKept = account.factor !== undefined && account.factor.since < since;
  return { ...account, ...left, factor: isKept ? account.factor : undefined };
}
