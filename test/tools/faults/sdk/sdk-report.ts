import { type SdkFigures, type SdkUser, stateOf } from './sdk-user.ts';

/** Figures of all users of the client. */
export interface SdkReport extends SdkFigures {
  readonly users: number;
  /** Number of users who are signed in at the end. */
  readonly signedIn: number;
  readonly refreshes: number;
}

export function reportOn(users: readonly SdkUser[]): SdkReport {
  const sumOf = (pick: (user: SdkUser) => number) => users.reduce((sum, user) => sum + pick(user), 0);
  const figure = (name: keyof SdkFigures) => sumOf(({ figures }) => figures[name]);
  return {
    users: users.length,
    signedIn: sumOf((user) => (stateOf(user).status === 'signed_in' ? 1 : 0)),
    sessions: figure('sessions'),
    lost: figure('lost'),
    refreshes: sumOf(({ phone }) => phone.network.refreshes()),
    signOuts: figure('signOuts'),
    offline: figure('offline'),
    kills: figure('kills'),
    answered: figure('answered'),
    failed: figure('failed'),
    bySecondFactor: figure('bySecondFactor'),
    byPasskey: figure('byPasskey'),
  };
}

/** Describes the figures in a line. */
export function describeSdk(report: SdkReport): string {
  const { users, signedIn, sessions, lost, refreshes, signOuts, offline, kills, answered, failed } = report;
  const { bySecondFactor, byPasskey } = report;
  return (
    `${users} users of the client: ${sessions} sessions opened, ${lost} lost, ${signedIn} signed in at the end; ` +
    `${bySecondFactor} logins by a second factor, ${byPasskey} by a passkey; ` +
    `${refreshes} refreshes; ${signOuts} sign-outs asked for, ${offline} of them offline; ` +
    `${kills} apps killed; ${answered} calls answered, ${failed} failed for the moment`
  );
}
