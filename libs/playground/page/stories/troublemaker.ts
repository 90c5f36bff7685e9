import { tracedFetch } from '../phone/traced-fetch.ts';
import type { OnTraffic } from '../phone/traffic.ts';
import type { Troublemaker } from './stage.ts';

export function createTroublemaker(onTraffic: OnTraffic): Troublemaker {
  return {
    async useToken(refresh_token) {
      const headers = { 'Content-Type': 'application/json', 'X-Request-ID': crypto.randomUUID() };
      const init = { method: 'POST', headers, body: JSON.stringify({ refresh_token }) };
      await tracedFetch(undefined, onTraffic, { url: `${location.origin}/api/v1/auth/refresh`, init });
    },
    async killGateway() {
      const { ok, status } = await fetch('/gateway', { method: 'DELETE' });
      if (!ok) throw new Error(`the gateway can't be killed: ${status}`);
    },
  };
}
