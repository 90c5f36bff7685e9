import type { Time } from './answers.ts';
import type { ActionName } from './roles.ts';

/** `POST /api/plans`: what will happen, and has not yet. */
export interface PlanAnswer {
  /** English, as authctl asks it. It may name the account with its address. */
  readonly question: string;
  readonly digest: string;
  /** True if a second person must consent. */
  readonly needs_consent: boolean;
}

/** `POST /api/actions`, `POST /api/consents/{id}/give` */
export type ActionAnswer =
  | {
      readonly state: 'done';
      readonly request_id: string;
      /** Facts of the result, such as the number of ended sessions or the time of an erasure. */
      readonly facts: Readonly<Record<string, string | number | boolean | null>>;
      /** `account.export`: the data. */
      readonly data?: unknown;
      /** The reason for which a worker closes the streams later. */
      readonly problem: string | null;
    }
  | { readonly state: 'waiting'; readonly consent: ConsentView };

/** `GET /api/consents` (those that wait), `GET /api/consents/{id}`. `POST /api/consents/{id}/refuse` ends it. */
export interface ConsentView {
  readonly consent_id: string;
  readonly action: ActionName;
  readonly target: string;
  readonly options: Readonly<Record<string, string | number>>;
  /** Empty in the list, if the wait is over, for readers whose role lacks the action, or if it has become impossible. */
  readonly question: string;
  /** Empty if the question is. */
  readonly digest: string;
  readonly reason: string;
  readonly asked_by: string;
  /** True if the reader asked, and so cannot consent. */
  readonly is_own: boolean;
  readonly asked_at: Time;
  readonly expires_at: Time;
  readonly state: 'waiting' | 'given' | 'refused';
}
