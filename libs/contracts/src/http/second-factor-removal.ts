import * as Type from '../type.ts';
import { Success, Timestamp } from './fields.ts';

/** Answer 200 of `POST /api/v1/auth/second-factor-removal/confirm`. */
export const RemovalOrderedResponse = Success(
  Type.Object({
    message: Type.Literal('REMOVAL_ORDERED'),
    due_at: Type.Unsafe<string>({ ...Timestamp, description: 'From then on, no login needs the second factor.' }),
    timestamp: Timestamp,
  }),
);
export type RemovalOrderedResponse = Type.Static<typeof RemovalOrderedResponse>;

/** Body of `POST /api/v1/auth/second-factor-removal/stop`. */
export const StopRemovalRequest = Type.Object({ stop_token: Type.String({ minLength: 1, maxLength: 512 }) });
export type StopRemovalRequest = Type.Static<typeof StopRemovalRequest>;

/** Answer 200 of the operations that stop a removal. */
export const RemovalStoppedResponse = Success(
  Type.Object({ message: Type.Literal('REMOVAL_STOPPED'), timestamp: Timestamp }),
);
export type RemovalStoppedResponse = Type.Static<typeof RemovalStoppedResponse>;

const timestamp = '2026-11-20T10:02:00.000Z';

export const removalOrderedExample = {
  status: 'success',
  data: { message: 'REMOVAL_ORDERED', due_at: '2026-11-23T10:02:00.000Z', timestamp },
} satisfies RemovalOrderedResponse;

export const stopRemovalExamples = {
  // Shortened, because examples contain no real tokens.
  token: { summary: 'The token of the mail', value: { stop_token: 'ZG9jdW1lbnRhdGlvbi1vbmx5' } },
} satisfies Record<string, { summary: string; value: StopRemovalRequest }>;

export const removalStoppedExample = {
  status: 'success',
  data: { message: 'REMOVAL_STOPPED', timestamp },
} satisfies RemovalStoppedResponse;
