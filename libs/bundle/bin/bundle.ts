import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleService } from '../src/bundle-service.ts';
import { type BundledPackage, closureOf } from '../src/packages.ts';

/**
 * `bundle.ts TARGET SERVICE...` is run by services/Dockerfile. It writes the bundle, the files that the bundle reads,
 * and the licences of the bundled packages into TARGET/SERVICE, under the paths that they have in the image.
 * TARGET/SERVICE.outside lists the folders of the packages that are not bundled.
 */
const root = fileURLToPath(new URL('../../..', import.meta.url));
const [target = '', ...services] = process.argv.slice(2);

for (const service of services) {
  const image = join(target, service);
  const own = join('services', service);
  const { inside, outside } = await bundleService(service, join(image, own, 'dist'));
  for (const file of ['package.json', join(own, 'package.json'), join(own, 'templates')]) {
    if (existsSync(join(root, file))) cpSync(join(root, file), join(image, file), { recursive: true });
  }
  writeFileSync(join(image, own, 'dist', 'LICENSES.txt'), inside.map(licenceOf).join('\n'));
  if (service === 'authctl') writeProgram(join(image, 'bin'), service);
  writeFileSync(join(target, `${service}.outside`), `${closureOf(root, outside).join('\n')}\n`);
}

/** Writes the program that the image has on its PATH. The source's first line needs `env`, which the image lacks. */
function writeProgram(folder: string, name: string): void {
  mkdirSync(folder);
  const text = `#!/usr/local/bin/node\nimport '../services/${name}/dist/main.js';\n`;
  writeFileSync(join(folder, name), text, { mode: 0o755 });
}

function licenceOf({ name, version, license, folder }: BundledPackage): string {
  const files = readdirSync(join(root, folder), { withFileTypes: true }).filter((entry) => entry.isFile());
  const texts = files.map((file) => file.name).filter((name) => /^(?:licen[cs]e|notice|copying)/i.test(name));
  const read = (file: string) => readFileSync(join(root, folder, file), 'utf8');
  return [`${name} ${version} (${license})\n`, ...texts.map(read)].join('\n');
}
