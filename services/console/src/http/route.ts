import type { Static, TSchema } from '@auth-account/contracts/type';
import type { WriteAudit } from '@auth-account/telemetry';
import type { Role } from '../contract/roles.ts';

/** The member of staff who has signed in. */
export interface Staff {
  /** The provider's id of the person. */
  readonly subject: string;
  readonly name: string;
  readonly role: Role;
}

/** A request whose session, role, origin, token, reason and limits were checked. */
export interface StaffRequest<B = undefined> {
  readonly staff: Staff;
  /** Reason for the logs; empty if the route needs none. */
  readonly reason: string;
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  /** Members of the query, each once. */
  readonly query: Readonly<Record<string, string>>;
  readonly body: B;
  /** Writes a line with staff, reason and request to the audit log. */
  readonly audit: WriteAudit;
}

/** A route of the console's own api. */
export interface Route<S extends TSchema | undefined = TSchema | undefined> {
  readonly method: 'GET' | 'POST';
  /** As Express has it: `/api/accounts/:id`. */
  readonly path: string;
  /** Least role. */
  readonly role: Role;
  /**
   * `looked_at`: it shows personal data, so it needs a reason, is in the audit log and counts towards the limit of
   * looked-up accounts. `changes`: it needs a reason and counts towards the limit of actions.
   */
  readonly kind: 'plain' | 'looked_at' | 'changes';
  readonly body?: S;
  /** Returns the answer. Throws an `OperationError`. */
  readonly answer: (request: StaffRequest<S extends TSchema ? Static<S> : undefined>) => Promise<unknown>;
}

/** Lets the type of the body follow from its schema. */
export function route<S extends TSchema | undefined = undefined>(definition: Route<S>): Route {
  return definition as unknown as Route;
}
