import { createServer } from 'node:http';
import { OperationError } from '@auth-account/operations';
import { createAccountCounts } from '@auth-account/redis';
import { collectionsOf, createTransactionRunner } from '@auth-account/stores';
import { loadKeyFile, readSecret } from '@auth-account/tokens';
import express, { type NextFunction, type Request, type Response } from 'express';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { accountRoutes } from '../../../services/console/src/account/account-routes.ts';
import type { Role } from '../../../services/console/src/contract/index.ts';
import type { Route } from '../../../services/console/src/http/route.ts';
import { systemRoutes } from '../../../services/console/src/system/system-routes.ts';
import { type Answer, send } from '../../support/http-client.ts';
import { listen } from '../../support/listen.ts';
import type { Environment } from '../../support/service-environment.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { type OperatorFixture, openOperatorFixture } from '../authctl/operator-fixture.ts';

export type ReadingFixture = Awaited<ReturnType<typeof openReadingFixture>>;

const statuses = { unknown: 404, refused: 409, changed: 409, invalid: 400, unavailable: 503 } as const;

/** Opens the three services, and the routes by which the console reads, for staff whom nobody has to sign in. */
export async function openReadingFixture(settings: Environment = {}) {
  const services = await openOperatorFixture(settings);
  const deps = await openDeps(services);
  const config = { CONSOLE_METRICS_URLS: [] };
  const routes = [...accountRoutes(deps), ...systemRoutes({ ...deps, config })];
  const audited: Readonly<Record<string, unknown>>[] = [];
  const app = express().use(express.json());
  for (const each of routes) mount(app, each, audited);
  const { url: base } = services.closing(await listen(createServer(app)));
  const as = (role: Role) => (method: string, path: string, body?: object) =>
    send(base, { method, path, headers: { role, 'Content-Type': 'application/json' }, ...(body && { body }) });
  return {
    ...services,
    deps,
    /** The client of the routes alone, for the plans of their queries. */
    monitored: deps.mongo.db.client,
    routes,
    audited,
    /** Reads as a member of staff with that role. */
    read: (path: string, role: Role = 'viewer'): Promise<Answer> => as(role)('GET', path),
    post: (path: string, body: object, role: Role = 'viewer'): Promise<Answer> => as(role)('POST', path, body),
  };
}

function mount(app: express.Express, route: Route, audited: Readonly<Record<string, unknown>>[]): void {
  const answer = async (request: Request, response: Response, _next: NextFunction) => {
    const staff = { subject: 'olga', name: 'Olga', role: request.headers.role as Role };
    const { params, query, body } = request;
    const given = { params, query, body, staff, reason: 'a call', requestId: 'page-1' };
    try {
      response.json(await route.answer({ ...given, audit: audited.push.bind(audited) } as never));
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      response.status(statuses[error.kind]).json({ error: { code: error.kind, message: error.message } });
    }
  };
  if (route.method === 'GET') app.get(route.path, answer);
  else app.post(route.path, answer);
}

async function openDeps({ env, database, keys, keyPrefix, closing }: OperatorFixture) {
  const mongo = closing(new MongoClient(env.MONGODB_URI ?? '', { monitorCommands: true }));
  const db = mongo.db(database);
  const collections = collectionsOf(db);
  const redis = new Redis(env.REDIS_URL ?? '');
  closing({ close: async () => redis.disconnect() });
  const secrets = (await loadKeyFile(env.SERVER_KEYS_FILE ?? '')).keys.map(readSecret);
  const counts = createAccountCounts({ redis, keyPrefix, secrets: () => secrets });
  const now = () => new Date();
  const store = { redis, keys, keyPrefix };
  const stores = { db, collections, stores: storesOf(collections), transaction: createTransactionRunner(mongo), now };
  return {
    mongo: stores,
    redis: store,
    now,
    useMongo: <T>(work: (given: typeof stores) => Promise<T>) => work(stores),
    useRedis: <T>(work: (given: typeof store) => Promise<T>) => work(store),
    useCounts: <T>(work: (given: typeof counts) => Promise<T>) => work(counts),
  };
}
