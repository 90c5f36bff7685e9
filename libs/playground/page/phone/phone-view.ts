import type { AuthState, Data, NewDevice, SignedOutReason } from '@auth-account/client';
import type { WaitingPerson } from '@auth-account/client/federated';
import type { Store } from '@auth-account/page/store.ts';
import type { AuthenticatorEntry } from './authenticator.ts';

export type Space = 'CREATE_NEW_HOME' | 'CREATE_NEW_OFFICE' | 'JOIN_EXISTING';

/** Message above the screen. */
export type Notice =
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'signed_out'; readonly reason: SignedOutReason }
  | { readonly kind: 'new_device'; readonly device: NewDevice }
  | { readonly kind: 'registered' | 'code_sent' | 'password_reset' | 'removal_ordered' };

export type Screen = 'register' | 'log_in' | 'forgot' | 'lost_app' | 'home' | 'devices' | 'security';

export interface PhoneView {
  readonly state: AuthState;
  readonly screen: Screen;
  readonly email: string;
  readonly password: string;
  /** True if this phone has registered an account with the email address and the password. */
  readonly hasAccount: boolean;
  readonly code: string;
  readonly inviteToken: string;
  readonly space: Space;
  /** The challenge of the code that was asked for. */
  readonly challengeId: string | undefined;
  readonly group: Data<'findCurrentGroup'> | undefined;
  readonly invite: string | undefined;
  readonly sessions: Data<'listSessions'>['sessions'];
  readonly passkeys: Data<'listPasskeys'>['passkeys'];
  readonly identities: Data<'listIdentities'>['identities'];
  /** The owner's authenticator app, if the second factor of this account is on. */
  readonly authenticator: AuthenticatorEntry | undefined;
  /** An authenticator app whose code is not confirmed yet. */
  readonly enrolment: (AuthenticatorEntry & { readonly factor_id: string }) | undefined;
  /** Time from which the second factor counts no longer, if somebody has ordered its removal. */
  readonly removalDue: string | undefined;
  /** URL of the provider's page, while it is open. */
  readonly providerPage: string | undefined;
  /** A person whom the provider has named, and who is not logged in yet. */
  readonly person: WaitingPerson | undefined;
  /** True while a login waits for the second factor. */
  readonly isAwaitingFactor: boolean;
  readonly isBusy: boolean;
  readonly isStreamOpen: boolean;
  readonly notice: Notice | undefined;
  readonly isOffline: boolean;
  readonly isCaptive: boolean;
  readonly losesNext: boolean;
  /** True from the silent cut of the phone's stream until the stream is open again. */
  readonly isHalfOpen: boolean;
  /** Error of the phone's clock, in milliseconds. */
  readonly clockErrorMs: number;
}

export type ViewStore = Pick<Store<PhoneView>, 'read'>;
export type SetView = (changes: Partial<PhoneView>) => void;

/** Runs an action of the user, and shows its error. */
export type Run = (work: () => Promise<void>) => Promise<void>;
