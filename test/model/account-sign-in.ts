import {
  type AccountModel,
  asCaller,
  asReauthenticated,
  asRemover,
  type Caller,
  changed,
  closed,
  codeRefused,
  isLive,
  open,
  type Possible,
  type Reauthentication,
  tokenRefused,
  without,
} from './account-state.ts';

/** An operation on identities at a provider, a login by one, or a step of the removal of a lost second factor. */
export type SignInOperation =
  | ({ readonly kind: 'link an identity'; readonly identity: string } & Reauthentication)
  | ({ readonly kind: 'unlink an identity'; readonly identity: string } & Reauthentication)
  | {
      readonly kind: 'log in by identity';
      readonly session: string;
      readonly device: number;
      readonly identity: string;
      readonly trust?: string;
    }
  | { readonly kind: 'ask for a removal'; readonly code: string; readonly email: string }
  | { readonly kind: 'order the removal'; readonly code: string; readonly order: string }
  | { readonly kind: 'stop the removal'; readonly caller: Caller }
  | { readonly kind: 'stop the removal by its mail'; readonly order: string }
  | { readonly kind: 'let the removal be due' };

type Kind = SignInOperation['kind'];
type Judges = {
  readonly [K in Kind]: (
    account: AccountModel,
    operation: Extract<SignInOperation, { readonly kind: K }>,
    begun: AccountModel,
  ) => Possible[];
};

const over = '410 ERR-CODE-EXPIRED';

/** Returns the account whose removal has this order, or none. Without a second factor nothing changes. */
export function ordered(account: AccountModel, removal: NonNullable<AccountModel['factor']>['removal']): AccountModel {
  const { factor } = account;
  return { ...account, factor: factor && { codes: factor.codes, since: factor.since, ...(removal && { removal }) } };
}

export const signInJudges: Judges = {
  'link an identity'(account, operation, begun) {
    const possible = asReauthenticated(account, operation, begun, (checked) => {
      const identities = { ...checked.identities, [operation.identity]: checked.changes };
      return [{ outcome: '201', after: { ...checked, ...changed(checked), identities } }];
    });
    // A sign-in method was changed after the check.
    return account.changes === begun.changes ? possible : [...possible, { outcome: over, after: account }];
  },
  'unlink an identity': (account, operation, begun) =>
    asRemover(account, operation, begun, (checked) => {
      const { [operation.identity]: linked, ...identities } = checked.identities;
      if (linked === undefined) return [{ outcome: '404 ERR-IDENTITY-NOT-FOUND', after: checked }];
      const others = Object.keys(identities).length + Object.keys(checked.passkeys).length;
      const isLast = others === 0 && checked.password === undefined;
      if (isLast) return [{ outcome: '409 ERR-LAST-CREDENTIAL', after: checked }];
      return [{ outcome: '200', after: { ...checked, ...changed(checked), identities } }];
    }),
  'log in by identity'(account, { session, device, identity, trust }, begun) {
    const late = [{ outcome: over, after: account }];
    const outdated = account.changes === begun.changes ? [] : late;
    if (account.identities[identity] === undefined) {
      return [{ outcome: '403 ERR-REGISTRATION-REQUIRED', after: account }, ...outdated];
    }
    const isTrusted = ({ trusted }: AccountModel) => trust !== undefined && trusted[device] === trust;
    const opened = closed(account) ?? open(account, device, session);
    if (account.factor === undefined || isTrusted(account)) return [...opened, ...outdated];
    const challenges = { ...account.challenges, [session]: device };
    const demand = { outcome: '403 ERR-SECOND-FACTOR-REQUIRED', after: { ...account, challenges } };
    // The trust has ended, or begun anew, after its token was compared.
    return [...(closed(account) ?? [demand]), ...outdated, ...(isTrusted(begun) ? late : [])];
  },
  'ask for a removal'(account, { code, email }, begun) {
    const asked = { purpose: 'second_factor_removal', email: account.email } as const;
    const opened = { ...account, codes: { ...account.codes, [code]: asked } };
    const isMeant = (each: AccountModel) => each.email === email && each.factor !== undefined;
    const afters = [...([account, begun].some(isMeant) ? [opened] : []), ...(isMeant(account) ? [] : [account])];
    return afters.map((after) => ({ outcome: '202', after }));
  },
  'order the removal'(account, { code, order }) {
    const isGood = account.factor !== undefined && account.codes[code]?.email === account.email;
    if (!isGood) return [{ outcome: codeRefused, after: account }];
    const codes = without(account.codes, (name) => name === code);
    const removal = account.factor?.removal ?? { order, since: account.changes };
    return [{ outcome: '200', after: { ...ordered(account, removal), codes } }];
  },
  'stop the removal': (account, { caller }, begun) =>
    asCaller(account, caller, begun, () => {
      const isOver = account.factor?.removal !== undefined && !isLive(account, caller.session);
      return [
        isOver ? { outcome: tokenRefused, after: account } : { outcome: '200', after: ordered(account, undefined) },
      ];
    }),
  'stop the removal by its mail'(account, { order }) {
    if (account.factor?.removal?.order !== order) return [{ outcome: codeRefused, after: account }];
    return [{ outcome: '200', after: ordered(account, undefined) }];
  },
  'let the removal be due'(account) {
    if (account.factor?.removal === undefined) return [];
    // Sessions live on, because they were opened after the time to which the order was put back.
    return [{ outcome: 'done', after: { ...account, ...changed(account), factor: undefined } }];
  },
};
