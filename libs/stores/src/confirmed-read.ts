/**
 * Options of a read that sees whatever the primary shows to anybody, and waits until none of it can be rolled back any
 * more. A read with majority concern is right as well, but may be behind. It costs a note in the oplog, which a majority
 * has to take: for the moment before something final is said. What gets no majority in time counts as unavailable.
 */
export const confirmedRead = { readConcern: { level: 'linearizable' }, maxTimeMS: 4_500 } as const;
