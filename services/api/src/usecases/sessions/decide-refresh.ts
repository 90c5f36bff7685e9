import type { SessionDocument } from '@auth-account/stores/documents';

/**
 * The generations of a session, which decide how a presented token is treated (docs/specification/refresh.md,
 * "Generations").
 */
export type Generations = Pick<SessionDocument, 'gen' | 'parent' | 'floor'>;

/**
 * `advance`: write these generations and hand out `gen`. `repeat`: hand out `gen` again. `reuse`: treat the token as
 * stolen.
 */
export type RefreshDecision =
  | { readonly kind: 'advance'; readonly next: Generations }
  | { readonly kind: 'repeat' }
  | { readonly kind: 'reuse' };

/**
 * Decides how a genuine token of that generation is treated. The parent's children are the generations `floor + 1 …
 * gen`.
 *
 * - A child is accepted. It becomes the parent, and its siblings are revoked from now on.
 * - The parent, within the window after the last hand-out, comes from a slower twin or a quick retry. It gets the
 *   newest child again.
 * - The parent, after this window, means that its answer was lost or taken by somebody else. It gets one more child.
 *   Its other children stay valid.
 * - A generation above `gen` means that the store was restored from a backup. The generation is adopted as the newest
 *   child.
 * - Any other generation has been revoked for some time, so two clients hold tokens of this session.
 */
export function decideRefresh(
  session: Generations & Pick<SessionDocument, 'handed_out_at'>,
  presented: number,
  now: Date,
  retryWindowMs: number,
): RefreshDecision {
  const { gen, parent, floor } = session;
  if (presented === parent) {
    const isRetry = now.getTime() - session.handed_out_at.getTime() <= retryWindowMs;
    return isRetry ? { kind: 'repeat' } : { kind: 'advance', next: { gen: gen + 1, parent, floor } };
  }
  if (presented <= floor) return { kind: 'reuse' };
  const newest = Math.max(gen, presented);
  return { kind: 'advance', next: { gen: newest + 1, parent: presented, floor: newest } };
}
