import type { Mailbox } from '../mailbox/mailbox.ts';
import type { Phone } from '../phone/phone.ts';

export interface Stage {
  readonly anna: Phone;
  readonly ben: Phone;
  readonly mailbox: Mailbox;
  readonly troublemaker: Troublemaker;
}

/** Actions that neither phone would do. */
export interface Troublemaker {
  /** Presents somebody else's refresh token. */
  useToken(refreshToken: string): Promise<void>;
  /** Kills the push gateway. The local stack starts it again. */
  killGateway(): Promise<void>;
}
