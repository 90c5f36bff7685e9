import type { AppleAppSiteAssociation, AssetLinks, RelatedOrigins } from '@auth-account/contracts/http/well-known';
import type { PasskeyConfig } from './passkey-config.ts';

/** The files. One of which nothing is configured is not served. */
export interface WellKnownFiles {
  readonly appleApps: AppleAppSiteAssociation;
  readonly assetLinks: AssetLinks;
  readonly relatedOrigins: RelatedOrigins;
}

/** Both are what Android asks for, before it gives an app the passkeys of a domain. */
const relation = ['delegate_permission/common.handle_all_urls', 'delegate_permission/common.get_login_creds'];

/** Returns the files by which phones and browsers learn which apps may use the passkeys. */
export function wellKnownFiles(config: PasskeyConfig): WellKnownFiles {
  const { APPLE_APP_IDS: apps, ANDROID_APPS: android, WEBAUTHN_RELATED_ORIGINS: origins } = config;
  return {
    appleApps: { webcredentials: { apps: [...apps] } },
    assetLinks: assetLinksOf(android),
    relatedOrigins: { origins: [...origins] },
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
