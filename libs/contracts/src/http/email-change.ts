/** Seconds for which a change of the address can be undone from the old one. */
export const emailUndoSeconds = 72 * 60 * 60;
