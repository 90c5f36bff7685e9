import { disturbing, visible } from '@auth-account/contracts/http/fields';
import type { LoginRequest } from '@auth-account/contracts/http/login';

/** The device of a login, as its app has named it. `device_id` is missing if the app has sent none, and never made up. */
export type DeviceFields = Pick<LoginRequest, 'device_id' | 'device_name' | 'platform'>;

const disturbance = new RegExp(`[${disturbing}]`, 'gu');
const anyVisible = new RegExp(visible, 'u');

/** Returns the name of the device in a form that is safe to show to others; null if it has no visible character. */
export function deviceNameOf(given = ''): string | null {
  const name = given.replace(disturbance, '');
  return anyVisible.test(name) ? name : null;
}
