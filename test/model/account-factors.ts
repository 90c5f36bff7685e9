import {
  type AccountModel,
  asCaller,
  asReauthenticated,
  asRemover,
  type Caller,
  changed,
  closed,
  countLive,
  endAll,
  isLive,
  open,
  type Possible,
  type Reauthentication,
  tokenRefused,
} from './account-state.ts';

/** An operation on the account's second factor or passkeys, or a login by one of them. */
export type FactorOperation =
  | ({ readonly kind: 'begin an app'; readonly app: string } & Reauthentication)
  | { readonly kind: 'confirm the app'; readonly app: string; readonly caller: Caller }
  | ({ readonly kind: 'switch the factor off' } & Reauthentication)
  | {
      readonly kind: 'complete the login';
      readonly session: string;
      readonly device: number;
      readonly challenge: string;
      readonly code: string;
      readonly isTrusted: boolean;
    }
  | { readonly kind: 'step up'; readonly caller: Caller; readonly code: string; readonly token: string }
  | ({ readonly kind: 'add a passkey'; readonly passkey: string } & Reauthentication)
  | ({ readonly kind: 'remove a passkey'; readonly passkey: string } & Reauthentication)
  | {
      readonly kind: 'log in by passkey';
      readonly session: string;
      readonly device: number;
      readonly passkey: string;
    };

type Kind = FactorOperation['kind'];
type Judges = {
  readonly [K in Kind]: (
    account: AccountModel,
    operation: Extract<FactorOperation, { readonly kind: K }>,
    begun: AccountModel,
  ) => Possible[];
};

const over = '410 ERR-CODE-EXPIRED';
const factorRefused = '403 ERR-SECOND-FACTOR-INVALID';
const recoveryCodes = 10;

/** Returns the name of a recovery code that an app's confirmation gives. */
export const recoveryCode = (app: string, index: number) => `${app}, code ${index}`;

/** Judges a change of the second factor. It ends all other sessions. */
function changeFactor(account: AccountModel, { session }: Caller, factor: AccountModel['factor']): Possible[] {
  if (!isLive(account, session)) return [{ outcome: tokenRefused, after: account }];
  const after = { ...account, ...endAll(account, 'revoked', session), ...changed(account), factor };
  return [{ outcome: `200 ${countLive(account) - 1}`, after }];
}

const has = ({ factor }: AccountModel, code: string) => factor?.codes.includes(code) === true;

/** Takes the recovery code away. */
function without(account: AccountModel, code: string): AccountModel {
  const { factor } = account;
  return { ...account, factor: factor && { ...factor, codes: factor.codes.filter((each) => each !== code) } };
}

export const factorJudges: Judges = {
  'begin an app': (account, operation, begun) =>
    asReauthenticated(account, operation, begun, (checked) => [
      { outcome: '201', after: { ...checked, pending: operation.app } },
    ]),
  'confirm the app': (account, { app, caller }, begun) =>
    asCaller(account, caller, begun, () => {
      const refusal = { outcome: over, after: account };
      const factor = {
        codes: Array.from({ length: recoveryCodes }, (_, index) => recoveryCode(app, index)),
        since: account.changes,
      };
      const on = changeFactor(account, caller, factor);
      if (account.pending === app) return on;
      // Another app may be begun after the check.
      return account.changes === begun.changes && begun.pending === app ? [refusal, ...on] : [refusal];
    }),
  'switch the factor off': (account, operation, begun) =>
    asReauthenticated(account, operation, begun, (checked) =>
      checked.factor === undefined
        ? [{ outcome: '200 0', after: checked }]
        : changeFactor(checked, operation.caller, undefined),
    ),
  'complete the login'(account, { session, device, challenge, code, isTrusted }, begun) {
    if (account.challenges[challenge] !== device) return [{ outcome: over, after: account }];
    const { [challenge]: _used, ...challenges } = account.challenges;
    const go = () => {
      const trusted = isTrusted ? { ...account.trusted, [device]: session } : account.trusted;
      return closed(account) ?? open({ ...without(account, code), challenges, trusted }, device, session);
    };
    if (has(account, code)) return go();
    const refusal = { outcome: factorRefused, after: account };
    // Another request has used the code since it was compared.
    return [refusal, ...(has(begun, code) ? (closed(account) ?? []) : [])];
  },
  'step up': (account, { caller, code, token }, begun) =>
    asCaller(account, caller, begun, () => {
      const outcomes = account.changes === begun.changes ? [] : [over, '403 ERR-STEP-UP-REQUIRED'];
      const refusals = [...outcomes, factorRefused].map((outcome) => ({ outcome, after: account }));
      if (!has(account, code)) return refusals;
      const after = { ...without(account, code), tokens: { ...account.tokens, [token]: caller.session } };
      return [...refusals.slice(0, -1), { outcome: '200', after }];
    }),
  'add a passkey': (account, operation, begun) => {
    const possible = asReauthenticated(account, operation, begun, (checked) => {
      const passkeys = { ...checked.passkeys, [operation.passkey]: checked.changes };
      return [{ outcome: '201', after: { ...checked, ...changed(checked), passkeys } }];
    });
    // A sign-in method was changed after the challenge was made.
    return account.changes === begun.changes ? possible : [...possible, { outcome: over, after: account }];
  },
  'remove a passkey': (account, operation, begun) =>
    asRemover(account, operation, begun, (checked) => {
      const { [operation.passkey]: added, ...passkeys } = checked.passkeys;
      if (added === undefined) return [{ outcome: '404 ERR-PASSKEY-NOT-FOUND', after: checked }];
      const others = Object.keys(passkeys).length + Object.keys(checked.identities).length;
      const isLast = others === 0 && checked.password === undefined;
      if (isLast) return [{ outcome: '409 ERR-LAST-CREDENTIAL', after: checked }];
      return [{ outcome: '200', after: { ...checked, ...changed(checked), passkeys } }];
    }),
  'log in by passkey'(account, { session, device, passkey }, begun) {
    const isThere = account.passkeys[passkey] !== undefined;
    const possible = isThere
      ? (closed(account) ?? open(account, device, session))
      : [{ outcome: '403 ERR-PASSKEY-INVALID', after: account }];
    // A sign-in method was changed after the check.
    return account.changes === begun.changes ? possible : [...possible, { outcome: over, after: account }];
  },
};
