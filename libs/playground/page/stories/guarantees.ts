/** The guarantee that each story shows: the section, and the first words of the guarantee. */
export const guarantees = {
  moveIn: ['registration', 'A registration stores one user, one group or one use of an invite, and one event'],
  invite: ['groups-and-invites', 'Every account is in exactly one group at every moment'],
  forgot: ['limits-and-overload', 'No session from before a reset of the password stays open'],
  lost: ['sessions-and-refresh', 'A lost answer costs nothing'],
  offline: ['logout-and-revocation', 'A refresh token is enough to end its session later'],
  clock: ['sessions-and-refresh', 'An owner whose app keeps the'],
  unknownDevice: ['logout-and-revocation', "The session's stream closes at once if the close command arrives"],
  stolen: ['sessions-and-refresh', 'Two holders of one session cannot both keep it'],
  passkey: ['ways-to-sign-in', 'Of any number of uses of one proof'],
  provider: ['providers', 'An address never joins accounts'],
  stolenPassword: ['second-factor', 'While it is on, no password alone opens a session'],
  lostApp: ['second-factor', 'No removal is sooner than 72 hours'],
  gateway: ['push-streams', 'Messages are at most once.'],
} as const satisfies Readonly<Record<string, readonly [section: string, begins: string]>>;

/** Returns the URL of a guarantee in the guides. A browser that supports text fragments scrolls to the guarantee. */
export function addressOf(story: keyof typeof guarantees): string {
  const [section, begins] = guarantees[story];
  return `/guides/guarantees.md#${section}:~:text=${encodeURIComponent(begins)}`;
}
