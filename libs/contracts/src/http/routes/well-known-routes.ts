import { enabledIf } from '../route.ts';
import {
  AppleAppSiteAssociation,
  AssetLinks,
  appleAppsExample,
  assetLinksExample,
  RelatedOrigins,
  relatedOriginsExample,
} from '../well-known.ts';

const file = {
  tag: 'Passkeys',
  promises: 'sign-in.md#passkeys',
  client: null,
  method: 'get',
  auth: 'none',
  headers: [],
  errors: [],
} as const;

const success = { status: 200, description: 'The file.', cacheControl: 'public, max-age=3600' } as const;

/**
 * Files by which phones and browsers learn which apps may use the passkeys of a domain. They are fetched from the root
 * of that domain, without redirects.
 */
export const wellKnownRoutes = {
  ...enabledIf('APPLE_APP_IDS', {
    getAppleApps: {
      ...file,
      operationId: 'getAppleApps',
      summary: 'iOS apps of the passkeys’ domain',
      description: 'From `APPLE_APP_IDS`; 404 if there are none.',
      path: '/.well-known/apple-app-site-association',
      success: { ...success, body: AppleAppSiteAssociation, example: appleAppsExample },
    },
  }),
  ...enabledIf('ANDROID_APPS', {
    getAssetLinks: {
      ...file,
      operationId: 'getAssetLinks',
      summary: 'Android apps of the passkeys’ domain',
      description: 'From `ANDROID_APPS`; 404 if there are none.',
      path: '/.well-known/assetlinks.json',
      success: { ...success, body: AssetLinks, example: assetLinksExample },
    },
  }),
  ...enabledIf('WEBAUTHN_RELATED_ORIGINS', {
    getRelatedOrigins: {
      ...file,
      operationId: 'getRelatedOrigins',
      summary: 'Pages on other domains that may use the passkeys',
      description: 'From `WEBAUTHN_RELATED_ORIGINS`; 404 if there are none.',
      path: '/.well-known/webauthn',
      success: { ...success, body: RelatedOrigins, example: relatedOriginsExample },
    },
  }),
};
