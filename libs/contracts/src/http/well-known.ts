import * as Type from '../type.ts';

/** `apple-app-site-association`: iOS apps that may use the passkeys of the domain. */
export const AppleAppSiteAssociation = Type.Object({
  webcredentials: Type.Object({ apps: Type.Array(Type.String()) }),
});
export type AppleAppSiteAssociation = Type.Static<typeof AppleAppSiteAssociation>;

/** Digital Asset Links: Android apps that may use the passkeys of the domain. */
export const AssetLinks = Type.Array(
  Type.Object({
    relation: Type.Array(Type.String()),
    target: Type.Object({
      namespace: Type.Literal('android_app'),
      package_name: Type.String(),
      sha256_cert_fingerprints: Type.Array(Type.String()),
    }),
  }),
);
export type AssetLinks = Type.Static<typeof AssetLinks>;

/** Related origins of WebAuthn level 3: pages on other domains that may use the passkeys of the domain. */
export const RelatedOrigins = Type.Object({ origins: Type.Array(Type.String()) });
export type RelatedOrigins = Type.Static<typeof RelatedOrigins>;

export const appleAppsExample = {
  webcredentials: { apps: ['A1B2C3D4E5.com.example.pantry'] },
} satisfies AppleAppSiteAssociation;

export const assetLinksExample = [
  {
    relation: ['delegate_permission/common.handle_all_urls', 'delegate_permission/common.get_login_creds'],
    target: {
      namespace: 'android_app',
      package_name: 'com.example.pantry',
      sha256_cert_fingerprints: [
        '14:6D:E9:83:C5:73:06:50:D8:EE:B9:95:2F:34:FC:64:16:A0:83:42:E6:1D:BE:A8:8A:04:96:B2:3F:CF:44:E5',
      ],
    },
  },
] satisfies AssetLinks;

export const relatedOriginsExample = { origins: ['https://pantry.example.org'] } satisfies RelatedOrigins;
