import { stat } from 'node:fs/promises';
import { type Finding, failed, ok, warning } from '@auth-account/operations/doctor';
import { loadKeyFile } from '@auth-account/tokens';
import type { KeyConfig } from '../../config.ts';
import { type KeyKind, keyKinds, kindTraits } from '../keys/key-kinds.ts';

/** Checks the key files that the environment names. */
export async function checkKeys(config: KeyConfig): Promise<Finding[]> {
  return (await Promise.all(keyKinds.map((kind) => checkFile(kind, config)))).flat();
}

async function checkFile(kind: KeyKind, config: KeyConfig): Promise<Finding[]> {
  const { variable, check: accept } = kindTraits[kind];
  const name = `${kind} keys`;
  const path = config[variable];
  if (path === undefined)
    return [warning(name, `${variable} is not set: not checked`, `Set ${variable} as for the api.`)];
  try {
    const set = await loadKeyFile(path);
    await accept(set);
    const mode = (await stat(path)).mode & 0o777;
    const kids = set.keys.map(({ kid }) => kid).join(', ');
    return [ok(name, `${path}: ${kids}`), checkMode(kind, path, mode)];
  } catch (error) {
    const { message } = error as Error;
    const fix = `Make one with authctl keys generate ${kind}, or mount the file that ${variable} names.`;
    return [failed(name, message.includes(path) ? message : `${path}: ${message}`, fix)];
  }
}

function checkMode(kind: KeyKind, path: string, mode: number): Finding {
  const check = `${kind} keys file mode`;
  const detail = mode.toString(8).padStart(4, '0');
  if ((mode & 0o007) === 0) return ok(check, detail);
  const fix = `chmod 600 ${path}; of a mounted Secret, set defaultMode: 0440 and the pod's fsGroup.`;
  return warning(check, `${detail}: everybody on this machine may use it`, fix);
}
