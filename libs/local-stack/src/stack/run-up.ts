import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateKeys, writePublicKeys } from '../keys/generate-keys.ts';
import type { Log } from '../log.ts';
import { type StaffProvider, startStaffProvider } from '../provider/start-staff-provider.ts';
import { assertPortsFree } from './assert-ports-free.ts';
import { createLinePrinter } from './create-line-printer.ts';
import { openRunFile, type RunFile } from './open-run-file.ts';
import { portNeeds, readSettings, type Settings, serviceDefaults, tracingDefaults } from './read-settings.ts';
import { readyScreen } from './ready-screen.ts';
import { type ServicePlan, STACK, type StackPlan } from './service-plan.ts';
import { type Databases, startDatabases } from './start-databases.ts';
import { type LocalSubscriber, startEventSubscriber } from './start-event-subscriber.ts';
import { type LocalService, runMigrations, startService } from './start-service.ts';

export interface UpOptions {
  readonly env: NodeJS.ProcessEnv;
  /** True to start without the data of earlier starts. */
  readonly fresh: boolean;
  readonly print: Log;
  /** Programs to run on the databases. If left out, these are all services. */
  readonly plan?: StackPlan;
}

const EX_CONFIG = 78;

/** Says that a service ended with EX_CONFIG. The service's own output names the fault. */
class WrongConfigError extends Error {
  override readonly name = 'WrongConfigError';
}

/** Everything that was started so far and must be ended at shutdown. */
interface Running {
  databases?: Databases;
  subscriber?: Promise<LocalSubscriber>;
  staffProvider?: Promise<StaffProvider | undefined>;
  readonly services: LocalService[][];
}

/**
 * Runs the whole system on this machine until a signal comes, then ends it in order: api, push-gateway and console, worker,
 * Redis, MongoDB. Returns the exit code: 1 if something could not be started, 78 if a service refuses its
 * configuration, otherwise 0.
 */
export async function runUp(options: UpOptions): Promise<number> {
  try {
    const settings = readSettings(options.env);
    await mkdir(settings.dataDir, { recursive: true });
    const runFile = await openRunFile(join(settings.dataDir, 'up.json'), options.print);
    return await runClaimed(options, settings, runFile);
  } catch (error) {
    options.print(error instanceof Error ? error.message : String(error));
    return error instanceof WrongConfigError ? EX_CONFIG : 1;
  }
}

/** Runs the stack when the data directory belongs to this process. */
async function runClaimed(options: UpOptions, settings: Settings, runFile: RunFile): Promise<number> {
  const startedAt = performance.now();
  const { print } = options;
  const signal = watchSignals(print, () => force(runFile, print));
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const failure = Promise.withResolvers<never>();
  const running: Running = { services: [] };
  const up = start({ ...options, settings, runFile, signal, stopped, running, fail: failure.reject });
  try {
    const databases = await Promise.race([up, stopped, failure.promise]);
    if (databases) printReady(options, settings, running, startedAt);
    await Promise.race([stopped, failure.promise]);
    return 0;
  } catch (error) {
    // An error that the shutdown itself causes is not a failure.
    if (signal.aborted) return 0;
    throw error;
  } finally {
    await stop(running, print);
    await runFile.endChildren();
    await settle(up);
    runFile.remove();
  }
}

/** Gives the running step time to clean up. The time is limited, because a library's download can't be ended. */
async function settle(work: Promise<unknown>): Promise<void> {
  await Promise.race([work.catch(() => undefined), sleep(2_000)]);
}

interface StartContext extends UpOptions {
  readonly settings: Settings;
  readonly runFile: RunFile;
  readonly signal: AbortSignal;
  /** Fulfilled when the signal is aborted. */
  readonly stopped: Promise<void>;
  readonly running: Running;
  readonly fail: (error: Error) => void;
}

async function start(context: StartContext): Promise<Databases> {
  const { env, print, settings, signal, running, plan = STACK } = context;
  await assertPortsFree(portNeeds(settings, ownServersNotNeeded(env)));
  if (context.fresh) await removeData(settings.dataDir, print);
  const onSpawn = (pid: number, marker: string) => {
    context.runFile.add({ pid, marker });
    // A step that was running when the signal came has started this process, which nothing else would end.
    if (signal.aborted) process.kill(pid, 'SIGKILL');
  };
  const keys = await generateKeys(join(settings.dataDir, 'keys'), settings.algorithm);
  if (env.ACCESS_TOKEN_KEYS_FILE) await writePublicKeys(env.ACCESS_TOKEN_KEYS_FILE, keys.accessTokenPublic);
  // Loads its modules while the databases start. If one of the two fails, the other is still awaited, and then ended.
  const subscriberUp = startSubscriber(context);
  subscriberUp.catch(() => undefined);
  running.subscriber = subscriberUp;
  const staffUp = startStaff(context);
  staffUp.catch(() => undefined);
  running.staffProvider = staffUp;
  const databases = await startDatabases({ env, settings, log: print, signal, onSpawn, onFailure: context.fail });
  running.databases = databases;
  signal.throwIfAborted();
  const subscriber = await subscriberUp;
  await staffUp;
  const addresses = {
    mongodbUri: databases.mongo?.uri,
    redisUrl: databases.redis?.url,
    eventSubscribers: subscriber.configuration,
    identityProviders: subscriber.identityProviders,
  };
  const defaults = serviceDefaults(env, settings, addresses, keys);
  const childEnv = { ...env, ...defaults, ...tracingDefaults(env, settings) };
  await runMigrations(
    { env: childEnv, onLine: createLinePrinter('migrate', print), onSpawn: (pid) => onSpawn(pid, plan.migrate) },
    plan.migrate,
  );
  signal.throwIfAborted();
  const envOf = ({ hasPublicKeysOnly }: ServicePlan) =>
    hasPublicKeysOnly ? { ...childEnv, ACCESS_TOKEN_KEYS_FILE: keys.accessTokenPublic } : childEnv;
  startServices(plan, envOf, context, onSpawn);
  const ready = Promise.all(running.services.flat().map((service) => service.waitUntilReady()));
  await Promise.race([ready, context.stopped]);
  // The addresses of the caller's own stores are not published, because they may contain secrets.
  if (databases.mongo && databases.redis) {
    context.runFile.publish({
      ...defaults,
      ...namedOf(env, sharedVariables),
      PROBE_API_URL: `http://127.0.0.1:${settings.ports.API_PORT}`,
    });
  }
  return databases;
}

function startSubscriber({ print, settings, running }: StartContext): Promise<LocalSubscriber> {
  return startEventSubscriber({
    port: settings.ports.LOCAL_SUBSCRIBER_PORT,
    apiUrl: `http://127.0.0.1:${settings.ports.API_PORT}`,
    killGateway: () =>
      running.services
        .flat()
        .find(({ name }) => name === 'push-gateway')
        ?.kill(),
    logs: {
      events: createLinePrinter('subscriber', print),
      mails: createLinePrinter('mail', print),
      playground: createLinePrinter('playground', print),
    },
  });
}

/** Starts the provider at which staff sign in, if the console runs and has no other one. */
async function startStaff({
  env,
  settings: { ports },
  plan = STACK,
}: StartContext): Promise<StaffProvider | undefined> {
  if (isNamed(env, 'CONSOLE_ISSUER') || !plan.services.flat().some(({ name }) => name === 'console')) return undefined;
  const consoleUrl = env.CONSOLE_PUBLIC_URL || `http://127.0.0.1:${ports.CONSOLE_PORT}`;
  return startStaffProvider({ port: ports.LOCAL_STAFF_PORT, consoleUrl });
}

function startServices(
  plan: StackPlan,
  envOf: (service: ServicePlan) => NodeJS.ProcessEnv,
  { print, running, fail }: StartContext,
  onSpawn: (pid: number, marker: string) => void,
): void {
  for (const group of plan.services) {
    running.services.push(
      group.map((service) =>
        startService(service, {
          env: envOf(service),
          onLine: createLinePrinter(service.name, print),
          log: print,
          onSpawn: (pid) => onSpawn(pid, service.main),
          onWrongConfig: () => fail(new WrongConfigError(`${service.name} does not start with this configuration.`)),
        }),
      ),
    );
  }
}

/** Variables other than addresses whose values must be the same in authctl and the services. */
const sharedVariables = [
  ...['MONGODB_DATABASE', 'KEY_PREFIX', 'ACCESS_TOKEN_ALGORITHM', 'ACCESS_TOKEN_KEYS_FILE', 'REFRESH_TOKEN_KEYS_FILE'],
  ...['SERVER_KEYS_FILE', 'ACCESS_TOKEN_TTL_SECONDS', 'ACCESS_TOKEN_MAX_TTL_SECONDS', 'REFRESH_TOKEN_ABSOLUTE_SECONDS'],
];

function namedOf(env: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

function ownServersNotNeeded(env: NodeJS.ProcessEnv) {
  return [
    ...(isNamed(env, 'MONGODB_URI') ? ['LOCAL_MONGO_PORT' as const] : []),
    ...(isNamed(env, 'REDIS_URL') ? ['LOCAL_REDIS_PORT' as const] : []),
  ];
}

function isNamed(env: NodeJS.ProcessEnv, variable: string): boolean {
  return Boolean(env[variable] || env[`${variable}_FILE`]);
}

async function removeData(dataDir: string, print: Log): Promise<void> {
  for (const part of ['mongo', 'redis', 'keys']) await rm(join(dataDir, part), { recursive: true, force: true });
  print(`Starting without earlier data: ${dataDir} is empty`);
}

function printReady({ env, print }: UpOptions, settings: Settings, { databases }: Running, startedAt: number): void {
  const own = { mongodbUri: databases?.mongo?.uri, redisUrl: databases?.redis?.url };
  const seconds = (performance.now() - startedAt) / 1000;
  print(readyScreen({ settings, ...own, hasSubscriber: !isNamed(env, 'EVENT_SUBSCRIBERS'), seconds }));
}

async function stop({ databases, services, subscriber, staffProvider }: Running, print: Log): Promise<void> {
  for (const group of services) {
    print(`Stopping ${group.map((service) => service.name).join(', ')}`);
    await Promise.all(group.map((service) => service.stop()));
  }
  const started = await subscriber?.catch(() => undefined);
  await started?.stop();
  const provider = await staffProvider?.catch(() => undefined);
  await provider?.close();
  if (databases?.redis) {
    print('Stopping Redis');
    await databases.redis.stop();
  }
  if (databases?.mongo) {
    print('Stopping MongoDB');
    await databases.mongo.stop();
  }
}

function force(runFile: RunFile, print: Log): void {
  runFile
    .endChildren('SIGKILL')
    .then(() => runFile.remove())
    .catch((error: Error) => print(error.message))
    .finally(() => process.exit(1));
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const REPEAT_MS = 1_000;

/**
 * Aborts the returned signal at the first SIGINT, SIGTERM or SIGHUP. npm forwards Ctrl-C to a child that the terminal
 * has already signalled, so another signal within a second counts as the same request. A later signal means that the
 * user does not want to wait, so it calls `force`.
 */
function watchSignals(log: Log, force: () => void): AbortSignal {
  const controller = new AbortController();
  let firstAt: number | undefined;
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (firstAt === undefined) {
        firstAt = performance.now();
        log(`Stopping (${name}); another signal after a second forces it`);
        controller.abort(new Error(name));
      } else if (performance.now() - firstAt > REPEAT_MS) {
        force();
      }
    });
  }
  return controller.signal;
}
