import {
  type Container,
  containersOf,
  findWorkloads,
  type Manifest,
  nameOf,
  type PodSpec,
  type Rule,
  type Volume,
} from '../manifest.ts';

/** The api's variables that name a file with private keys. */
const keyFiles = new Set(['ACCESS_TOKEN_KEYS_FILE', 'REFRESH_TOKEN_KEYS_FILE', 'SERVER_KEYS_FILE']);

function secretsOfVolume({ secret, projected }: Volume): string[] {
  const names = [secret?.secretName, ...(projected?.sources ?? []).map((source) => source.secret?.name)];
  return names.filter((name) => name !== undefined);
}

/** Returns true if the volume is a worker's or a console's and holds only the server's keys. */
function isServerKeys(volume: Volume, pod: PodSpec): boolean {
  const { items } = volume.secret ?? {};
  if (items?.length !== 1) return false;
  return pod.containers.some((container) => {
    const file = container.env?.find(({ name }) => name === 'SERVER_KEYS_FILE')?.value ?? '';
    return (
      ['worker', 'console'].includes(container.name) &&
      volumeAt(file, container, pod) === volume &&
      file.endsWith(`/${items[0]?.path}`)
    );
  });
}

/** Returns the Secrets that are, wholly or in part, in a container's environment. */
function secretsOfEnvironment({ env = [], envFrom = [] }: Container): string[] {
  const names = [
    ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ...envFrom.map(({ secretRef }) => secretRef?.name),
  ];
  return names.filter((name) => name !== undefined);
}

/** Returns the volume in which a container finds a path, which is the innermost of the volumes mounted above it. */
function volumeAt(path: string, { volumeMounts = [] }: Container, { volumes = [] }: PodSpec): Volume | undefined {
  const above = volumeMounts.filter(({ mountPath }) => path.startsWith(`${mountPath}/`));
  const nearest = above.toSorted((one, other) => other.mountPath.length - one.mountPath.length)[0];
  return volumes.find(({ name }) => name === nearest?.name);
}

/** Returns the Secrets in which the api finds its key files. */
function findPrivateSecrets(manifests: readonly Manifest[]): Set<string> {
  const found = findWorkloads(manifests).flatMap(({ pod }) =>
    pod.containers
      .filter(({ name }) => name === 'api')
      .flatMap((api) =>
        (api.env ?? [])
          .filter(({ name }) => keyFiles.has(name))
          .flatMap(({ value = '' }) => volumeAt(value, api, pod) ?? [])
          .flatMap(secretsOfVolume),
      ),
  );
  return new Set(found);
}

/** Rules about access to keys. */
export const keyRules: readonly Rule[] = [
  {
    title:
      'nobody but api and authctl gets anything of a Secret with private keys, worker and console the server’s keys alone',
    find(manifests) {
      const privateSecrets = findPrivateSecrets(manifests);
      const others = findWorkloads(manifests).filter(({ pod }) =>
        pod.containers.every(({ name }) => name !== 'api' && name !== 'authctl'),
      );
      return others.flatMap(({ manifest, pod }) => {
        const secrets = [
          ...(pod.volumes ?? []).filter((volume) => !isServerKeys(volume, pod)).flatMap(secretsOfVolume),
          ...containersOf(pod).flatMap(secretsOfEnvironment),
        ];
        const found = new Set(secrets.filter((secret) => privateSecrets.has(secret)));
        return [...found].map(
          (secret) => `${nameOf(manifest)}: gets Secret/${secret}, in which the api has its private keys`,
        );
      });
    },
  },
];
