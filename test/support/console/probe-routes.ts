import * as Type from '@auth-account/contracts/type';
import { type Route, route } from '../../../services/console/src/http/route.ts';

const Body = Type.Object({ text: Type.String({ maxLength: 32 }) }, { additionalProperties: false });

/** A route of each kind, which answers with what it was given. */
export const probeRoutes = (): Route[] => [
  route({
    ...{ method: 'GET', path: '/api/probes/:id', role: 'support', kind: 'looked_at' },
    answer: async ({ params, query, reason, staff }) => ({ params, query, reason, staff }),
  }),
  route({
    ...{ method: 'POST', path: '/api/probes', role: 'operator', kind: 'changes', body: Body },
    answer: async ({ body, reason }) => ({ body, reason }),
  }),
];
