import { CreateInviteRequest, defaultInviteSeconds, type InviteResponse } from '@auth-account/contracts/http/invites';
import { AppError } from '@auth-account/errors';
import type { GroupStore, InviteStore, UserStore } from '@auth-account/stores';
import type { InviteDocument } from '@auth-account/stores/documents';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Change, type Commit, none, type Outcome } from '../../announcements/commit.ts';
import { canonicalBody, type OpenIdempotent, replayed } from '../../idempotency/open-idempotent.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { nonOwnerError } from '../groups/non-owner-error.ts';
import { describeInvite } from './invite-validity.ts';

export interface CreateInviteDeps {
  readonly users: Pick<UserStore, 'isMember'>;
  readonly groups: Pick<GroupStore, 'countInvite'>;
  readonly invites: Pick<InviteStore, 'exists' | 'insert' | 'countGood'>;
  readonly openIdempotent: OpenIdempotent;
  readonly limits: Pick<Limits, 'createInvite'>;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'inviteToken'>;
  readonly now: () => Date;
}

type InviteData = InviteResponse['data'];

export interface CreateInviteOutput {
  readonly data: InviteData;
  /** True if the answer repeats that of an earlier request with the same `Idempotency-Key`. */
  readonly isReplayed: boolean;
}

/** Limit for the valid invites of one group (docs/specification/groups-and-invites.md, "Invites"). */
const inviteLimit = 100;

/**
 * Creates an invite into the caller's group. The caller must own the group at the commit, so the transaction writes the
 * group's document, like every change that closes the group or changes its owner. A recovery of the account writes this
 * document too, so that a session that the recovery has ended can create no invite.
 *
 * Raises the errors of {@link nonOwnerError}, `IAD_JWT_ACCESS_INVALID` if the caller's session has since ended,
 * `ERR-INVITE-LIMIT-REACHED`, `ERR-RATE-LIMITED` and `ERR-IDEMPOTENCY-KEY-REUSED`. A retry with the same
 * `Idempotency-Key` gets the first answer again, and does not count for any limit.
 */
export function createIssueInvite(deps: CreateInviteDeps) {
  const { users, groups, invites, openIdempotent, limits, commit, ids, now } = deps;

  return async (
    input: CreateInviteRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<CreateInviteOutput> => {
    const { user_id, home_group_id, sid: session_id } = caller;
    // The group is part of the request, because a caller who has moved since must not get an invite into another group.
    const body = JSON.stringify([home_group_id, canonicalBody(CreateInviteRequest, input)]);
    const scope = { route: 'createInvite', caller: user_id, key: origin.idempotencyKey, body };
    const idempotent = openIdempotent<InviteData>(scope);
    const earlier = await idempotent.find();
    if (earlier !== undefined) return { data: replayed(earlier), isReplayed: true };
    await limits.createInvite(user_id, origin);
    const at = now();
    const invite = newInvite(input, caller, ids.inviteToken(), at);
    const data = { ...describeInvite(invite, at), timestamp: at.toISOString() };
    const change: Change<Outcome> = {
      at,
      lockKey: home_group_id,
      isCommitted: () => invites.exists(invite._id),
      ifClientLeft: 'commit',
      async work(session) {
        // This is the first write, so that a simultaneous request with the same key waits here.
        await idempotent.keep(data, user_id, session);
        const group = await groups.countInvite(home_group_id, user_id, session);
        if (group === undefined) throw await nonOwnerError(users, caller);
        if ((await invites.countGood(home_group_id, at, session)) >= inviteLimit) {
          throw new AppError('ERR-INVITE-LIMIT-REACHED', { details: { limit: inviteLimit } });
        }
        await invites.insert(invite, session);
        const audit = { event: 'invite.created', user_id, session_id, home_group_id } as const;
        return { events: none, audit: [audit], sessions: none };
      },
    };
    const carriedOut = await idempotent.carryOut(() => commit(change, origin));
    if ('earlier' in carriedOut) return { data: replayed(carriedOut.earlier), isReplayed: true };
    return { data, isReplayed: false };
  };
}

function newInvite(
  { expires_in = defaultInviteSeconds, max_uses = null }: CreateInviteRequest,
  { user_id, home_group_id, account_type }: VerifiedAccessToken,
  token: string,
  at: Date,
): InviteDocument {
  return {
    _id: token,
    home_group_id,
    account_type,
    created_by: user_id,
    created_at: at,
    expires_at: new Date(at.getTime() + expires_in * 1_000),
    max_uses,
    uses: 0,
    revoked_at: null,
  };
}
