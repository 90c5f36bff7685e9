import type { AuthStorage } from '@auth-account/client';
import type { Owner } from './traffic.ts';

/** The storage of the phones: it lives as long as the tab. A tab that is duplicated has the same phones. */
export const phoneStorage: AuthStorage = {
  get: async (key) => sessionStorage.getItem(key),
  set: async (key, value) => sessionStorage.setItem(key, value),
  remove: async (key) => sessionStorage.removeItem(key),
};

/** The client keeps its record in two slots, of which the one with the higher number is valid. */
export function storedRefreshToken(owner: Owner): string | undefined {
  const records = [0, 1].map((slot) => JSON.parse(sessionStorage.getItem(`${owner}.session.${slot}`) ?? '{"n":-1}'));
  const [newest] = records.toSorted((one, other) => other.n - one.n);
  return newest.session?.refresh_token;
}
