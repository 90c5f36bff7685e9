import fc from 'fast-check';
import type { Action } from './client-actions.ts';
import type { StorageFate } from './client-device.ts';
import type { NetworkFate } from './client-network.ts';
import type { StreamEnd, StreamFate } from './client-streams.ts';

export interface Step {
  readonly action: Action;
  /** Fates of the next requests, and of the next accesses to the storage. */
  readonly fates: readonly NetworkFate[];
  readonly storage: readonly StorageFate[];
  /** Fates of the next streams. */
  readonly streams?: readonly StreamFate[];
  /** An action that happens at a later access to the platform, perhaps during this step. */
  readonly strike: { readonly after: number; readonly action: Action } | undefined;
  readonly passMs: number;
}

export interface Course {
  readonly tabs: number;
  readonly isSignedIn: boolean;
  /** True if the app binds its sessions to a key of the device. */
  readonly isBound?: boolean;
  readonly steps: readonly Step[];
  /** True if no session may be lost, whatever the storage does, as in courses that led to a fix. */
  readonly isExact?: boolean;
}

const tab = fc.nat(1);
const isOn = fc.boolean();

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('call' as const), tab }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('call a service' as const), tab, refusals: fc.nat(2) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('token' as const), tab }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('kill' as const), tab }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('freeze' as const, 'thaw' as const), tab }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('forget' as const), tab }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('damage' as const), isReported: isOn }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('start' as const), tab }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('log out' as const), tab }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('log in' as const, 'log in' as const, 'log in by a provider' as const),
      tab,
      account: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.constant(1)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('network' as const, 'foreground' as const, 'lock' as const, 'read only' as const),
      isOn,
      isReported: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('wipe' as const, 'end from elsewhere' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('step the clock' as const),
      ms: fc.constantFrom(-86_400_000, 86_400_000),
    }),
  },
);

const onTheWay = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(16_000), fc.nat(400_000));

const networkFate: fc.Arbitrary<NetworkFate> = fc.record({
  kind: fc.oneof(
    { weight: 3, arbitrary: fc.constant('passes' as const) },
    {
      weight: 7,
      arbitrary: fc.constantFrom(
        'request_lost' as const,
        'answer_lost' as const,
        'answer_lost' as const,
        'cut' as const,
        'doubled' as const,
        'echoed' as const,
        'captive_portal' as const,
        'captive_portal_401' as const,
        'unavailable' as const,
        'throttled' as const,
        'hangs' as const,
      ),
    },
  ),
  upMs: onTheWay,
  downMs: onTheWay,
  givenUp: fc.constantFrom('lost' as const, 'arrives' as const),
});

const storageFate: fc.Arbitrary<StorageFate> = fc.constantFrom(
  ...(['works', 'works', 'works', 'slow', 'fails', 'fails', 'late', 'hangs', 'lands'] as const),
);

const step: fc.Arbitrary<Step> = fc.record({
  action,
  fates: fc.oneof(fc.constant([]), fc.array(networkFate, { maxLength: 4 })),
  storage: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(storageFate, { maxLength: 8 })),
  strike: fc.option(fc.record({ after: fc.integer({ min: 1, max: 30 }), action }), { nil: undefined }),
  passMs: fc.constantFrom(0, 0, 3, 2_000, 16_000, 40_000, 200_000, 600_000, 600_000),
});

export const course: fc.Arbitrary<Course> = fc.record({
  tabs: fc.constantFrom(1, 2),
  isBound: fc.boolean(),
  isSignedIn: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false)),
  steps: fc.array(step, { minLength: 1, maxLength: 14 }),
});

/** Ends with and without a warning. 4003 and 4005 are rare, because after them the client rightly opens no stream. */
const streamEnd: fc.Arbitrary<StreamEnd> = fc.record({
  code: fc.constantFrom(
    1000,
    1001,
    1001,
    1003,
    1006,
    1006,
    1009,
    1011,
    4001,
    4002,
    4003,
    4004,
    4005,
    4008,
    4999,
    undefined,
    undefined,
  ),
  afterMs: fc.constantFrom(0, 0, 5_000, 20_000, 100_000, 400_000),
  reconnectAfterMs: fc.option(fc.nat(60_000), { nil: undefined }),
});

const streamFate: fc.Arbitrary<StreamFate> = fc.record({
  handshake: fc.constantFrom(
    'succeeds' as const,
    'succeeds' as const,
    'succeeds' as const,
    'cut' as const,
    'hangs' as const,
  ),
  upMs: onTheWay,
  downMs: onTheWay,
  isClosed: fc.boolean(),
  refusals: fc.constantFrom(0, 0, 1, 3),
  end: fc.option(streamEnd, { nil: undefined, freq: 4 }),
});

const streamedStep: fc.Arbitrary<Step> = fc
  .record({
    step,
    streams: fc.array(streamFate, { maxLength: 3 }),
    isByOperator: fc.oneof({ weight: 15, arbitrary: fc.constant(false) }, fc.constant(true)),
  })
  .map(({ step: plain, streams, isByOperator }) => {
    return { ...plain, streams, ...(isByOperator && { action: { kind: 'end by an operator' } as const }) };
  });

/** A course with streams on. */
export const streamedCourse: fc.Arbitrary<Course> = fc.record({
  tabs: fc.constantFrom(1, 2),
  isBound: fc.boolean(),
  isSignedIn: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false)),
  steps: fc.array(streamedStep, { minLength: 1, maxLength: 14 }),
});
