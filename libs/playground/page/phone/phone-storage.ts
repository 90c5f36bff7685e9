import type { AuthStorage } from '@auth-account/client';

/** The storage of the phones: it lives as long as the tab. A tab that is duplicated has the same phones. */
export const phoneStorage: AuthStorage = {
  get: async (key) => sessionStorage.getItem(key),
  set: async (key, value) => sessionStorage.setItem(key, value),
  remove: async (key) => sessionStorage.removeItem(key),
};
