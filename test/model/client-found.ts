import type { Action } from './client-actions.ts';
import type { Course, Step } from './client-course.ts';

const step = (action: Action, more: Partial<Step> = {}): Step => {
  return { action, fates: [], storage: [], strike: undefined, passMs: 0, ...more };
};
const slow = (count: number) => Array.from({ length: count }, () => 'slow' as const);
const hanging = { kind: 'hangs', upMs: 0, downMs: 0, givenUp: 'lost' } as const;
const late = { kind: 'passes', upMs: 80_000, downMs: 0, givenUp: 'lost' } as const;
const passing = (downMs: number) => ({ kind: 'passes', upMs: 0, downMs, givenUp: 'lost' }) as const;
const echoed = { kind: 'echoed', upMs: 0, downMs: 0, givenUp: 'lost' } as const;
const lost = { kind: 'request_lost', upMs: 0, downMs: 0, givenUp: 'lost' } as const;
const unreported = { isOn: true, isReported: false } as const;

/** Courses that once broke a promise, shortened as far as possible. */
export const found: Readonly<Record<string, Course>> = {
  'a login by another user while a refresh is in flight': {
    tabs: 1,
    isSignedIn: true,
    steps: [
      step(
        { kind: 'call a service', tab: 0, refusals: 1 },
        { strike: { after: 3, action: { kind: 'log in', tab: 0, account: 1 } } },
      ),
    ],
  },
  'a tab that logs out while its storage is slow': {
    tabs: 2,
    isSignedIn: true,
    steps: [step({ kind: 'log out', tab: 0 }, { storage: slow(5), passMs: 40_000 })],
  },
  'two tabs that log in at once': {
    tabs: 2,
    isSignedIn: false,
    steps: [
      step({ kind: 'log in', tab: 0, account: 0 }, { fates: [passing(100), passing(100)] }),
      step({ kind: 'log in', tab: 1, account: 0 }, { passMs: 1_000 }),
    ],
  },
  'a login in the other tab after the storage was wiped': {
    tabs: 2,
    isSignedIn: true,
    steps: [step({ kind: 'log out', tab: 0 }), step({ kind: 'wipe' }), step({ kind: 'log in', tab: 1, account: 0 })],
  },
  'two logouts at once, and the app is killed after the first has answered': {
    tabs: 1,
    isSignedIn: true,
    steps: [
      step({ kind: 'network', isOn: false, isReported: false }),
      step({ kind: 'log out', tab: 0 }, { storage: slow(4) }),
      step({ kind: 'log out', tab: 0 }, { passMs: 1_000 }),
      step({ kind: 'kill', tab: 0 }),
    ],
  },
  'a login that the storage refused, and another tab that still has the session before it': {
    tabs: 2,
    isSignedIn: true,
    steps: [
      step({ kind: 'read only', ...unreported }),
      step({ kind: 'log in', tab: 1, account: 0 }, { passMs: 3 }),
      step({ kind: 'read only', isOn: false, isReported: false }),
      step({ kind: 'call', tab: 0 }, { passMs: 600_000 }),
    ],
  },
  'a login that a proxy sends twice, of which the first answer comes back': {
    tabs: 1,
    isSignedIn: false,
    steps: [step({ kind: 'log in', tab: 0, account: 0 }, { fates: [echoed], passMs: 600_000 })],
  },
  'a refresh that hangs in one tab while the other waits for it': {
    tabs: 2,
    isSignedIn: true,
    steps: [
      step({ kind: 'token', tab: 0 }, { passMs: 600_000 }),
      step({ kind: 'token', tab: 0 }, { fates: [hanging, hanging] }),
      step({ kind: 'token', tab: 1 }, { passMs: 40_000 }),
    ],
  },
  'a logout in one tab while the other one uses a token that the first has not heard of': {
    tabs: 2,
    isSignedIn: true,
    steps: [
      step({ kind: 'start', tab: 0 }, { passMs: 600_000 }),
      step(
        { kind: 'call a service', tab: 1, refusals: 1 },
        { strike: { after: 15, action: { kind: 'log out', tab: 0 } } },
      ),
    ],
  },
  'two logouts at once, and the app is killed before the second one is written': {
    tabs: 2,
    isSignedIn: true,
    steps: [
      step(
        { kind: 'log in', tab: 0, account: 0 },
        { strike: { after: 25, action: { kind: 'log out', tab: 0 } }, passMs: 600_000 },
      ),
      step({ kind: 'log out', tab: 0 }, { strike: { after: 9, action: { kind: 'kill', tab: 0 } } }),
      step({ kind: 'start', tab: 0 }, { fates: [late], passMs: 2_000 }),
    ],
  },
  'a logout after the storage was wiped, and another tab that still has the session before': {
    tabs: 2,
    isSignedIn: true,
    steps: [
      step({ kind: 'log in', tab: 0, account: 0 }, { strike: { after: 8, action: { kind: 'wipe' } } }),
      step({ kind: 'call', tab: 1 }),
      step({ kind: 'log out', tab: 0 }),
    ],
  },
  'a start while the other tab logs in, which reads what was there before, and has it last': {
    tabs: 2,
    isSignedIn: true,
    steps: [
      step({ kind: 'kill', tab: 0 }),
      step({ kind: 'call a service', tab: 1, refusals: 1 }),
      // The logout of the earlier session takes a while.
      step({ kind: 'log in', tab: 1, account: 1 }, { fates: [passing(1), lost] }),
      step(
        { kind: 'step the clock', ms: -86_400_000 },
        {
          fates: [passing(3)],
          storage: ['slow', 'works', 'works'],
          strike: { after: 1, action: { kind: 'start', tab: 0 } },
          passMs: 40_000,
        },
      ),
    ],
  },
  'a refresh while the storage can’t be read, and the other tab has a newer token': {
    tabs: 2,
    isSignedIn: true,
    steps: [
      step({ kind: 'call a service', tab: 0, refusals: 0 }, { passMs: 600_000 }),
      step({ kind: 'call a service', tab: 1, refusals: 2 }),
      step(
        { kind: 'call a service', tab: 0, refusals: 0 },
        { storage: ['works', 'fails', 'fails', 'fails', 'fails'], passMs: 600_000 },
      ),
    ],
  },
  'a logout that is on its way when the storage is wiped, and one in another tab that starts then': {
    tabs: 2,
    isSignedIn: true,
    steps: [
      step({ kind: 'kill', tab: 0 }),
      step({ kind: 'log out', tab: 1 }, { fates: [late] }),
      step({ kind: 'wipe' }),
      step({ kind: 'start', tab: 0 }),
      step({ kind: 'log out', tab: 0 }, { passMs: 16_000 }),
    ],
  },
  'a logout that another tab writes over when the storage is wiped': {
    tabs: 2,
    isSignedIn: true,
    steps: [
      step({ kind: 'call', tab: 0 }, { strike: { after: 15, action: { kind: 'log out', tab: 0 } } }),
      step({ kind: 'wipe' }),
      step({ kind: 'kill', tab: 0 }, { strike: { after: 1, action: { kind: 'log out', tab: 0 } } }),
      step({ kind: 'start', tab: 0 }, { strike: { after: 7, action: { kind: 'log out', tab: 1 } } }),
      step({ kind: 'log out', tab: 0 }, { strike: { after: 5, action: { kind: 'wipe' } }, passMs: 3 }),
    ],
  },
  'a logout that takes several refreshes, none of which the storage keeps, and the app is killed': {
    tabs: 1,
    isSignedIn: true,
    steps: [
      step({ kind: 'network', isOn: false, isReported: true }),
      step({ kind: 'log out', tab: 0 }, { passMs: 1_000 }),
      step({ kind: 'read only', ...unreported }),
      step(
        { kind: 'network', isOn: true, isReported: true },
        { fates: [passing(1), lost, passing(1), lost], passMs: 7_000 },
      ),
      step({ kind: 'kill', tab: 0 }),
    ],
  },
  ...Object.fromEntries(
    [passing(10_000), lost].map((fate) => [
      `a refresh, ${fate.kind}, in a tab that is frozen while the other one refreshes twice without the lock`,
      {
        tabs: 2,
        isSignedIn: true,
        steps: [
          step({ kind: 'call a service', tab: 0, refusals: 1 }, { fates: [fate], passMs: 500 }),
          step({ kind: 'freeze', tab: 0 }),
          step({ kind: 'call a service', tab: 1, refusals: 1 }, { passMs: 60_000 }),
          step({ kind: 'call a service', tab: 1, refusals: 1 }, { passMs: 60_000 }),
          step({ kind: 'thaw', tab: 0 }, { passMs: 30_000 }),
        ],
      },
    ]),
  ),
};
