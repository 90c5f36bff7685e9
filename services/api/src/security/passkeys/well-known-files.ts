import type { AppleAppSiteAssociation, AssetLinks, RelatedOrigins } from '@auth-account/contracts/http/well-known';
import type { PasskeyConfig } from './passkey-config.ts';

/** The files, each undefined if nothing of it is configured. */
export interface WellKnownFiles {
  readonly appleApps: AppleAppSiteAssociation | undefined;
  readonly assetLinks: AssetLinks | undefined;
  readonly relatedOrigins: RelatedOrigins | undefined;
}

/** Both are what Android asks for, before it gives an app the passkeys of a domain. */
const relation = ['delegate_permission/common.handle_all_urls', 'delegate_permission/common.get_login_creds'];

/** Returns the files by which phones and browsers learn which apps may use the passkeys. */
export function wellKnownFiles(config: PasskeyConfig): WellKnownFiles {
  const { APPLE_APP_IDS: apps, ANDROID_APPS: android, WEBAUTHN_RELATED_ORIGINS: origins } = config;
  return {
    appleApps: apps.length > 0 ? { webcredentials: { apps: [...apps] } } : undefined,
    assetLinks: android.length > 0 ? assetLinksOf(android) : undefined,
    relatedOrigins: origins.length > 0 ? { origins: [...origins] } : undefined,
  };
}

function assetLinksOf(apps: readonly string[]): AssetLinks {
  const pairs = apps.map((app) => app.split('=') as [string, string]);
  return [...Map.groupBy(pairs, ([name]) => name)].map(([package_name, entries]) => ({
    relation,
    target: {
      namespace: 'android_app',
      package_name,
      sha256_cert_fingerprints: entries.map(([, fingerprint]) => fingerprint),
    },
  }));
}
