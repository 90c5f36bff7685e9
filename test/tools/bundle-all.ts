import { rm } from 'node:fs/promises';

/** Has each process of a service that is started from now on run its bundle, as in its image. */
export async function bundleAll(): Promise<void> {
  const { bundleService } = await import('@auth-account/bundle');
  for (const service of ['api', 'push-gateway', 'worker', 'console', 'authctl']) {
    const target = `services/${service}/dist`;
    await rm(target, { recursive: true, force: true });
    await bundleService(service, target);
  }
  // Read when @auth-account/local-stack is loaded.
  process.env.BUNDLES = '1';
}
