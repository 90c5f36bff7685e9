import { subscribe } from 'node:diagnostics_channel';
import type { InstrumentationNodeModuleDefinition } from '@opentelemetry/instrumentation';

/**
 * Has an instrumentation patch the modules of its package when a library of ours has loaded them. The library publishes
 * them on the channel `auth-account:loaded`, by their names. OpenTelemetry's own hook on `require` sees no module of a
 * bundle, and the instrumentations leave it out.
 *
 * The last definition of a module is for the newest version of its package, which the lock file has.
 */
export function instrumentLoaded(definitions: readonly InstrumentationNodeModuleDefinition[]): void {
  const all = definitions.flatMap((definition) => [definition, ...definition.files]);
  const patches = new Map(all.map(({ name, patch }) => [name, patch]));
  subscribe('auth-account:loaded', (modules) => {
    for (const [name, loaded] of Object.entries(Object(modules))) patches.get(name)?.(loaded);
  });
}
