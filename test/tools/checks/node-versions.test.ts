import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeFor } from '@auth-account/local-stack';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../../..');
const dockerfile = readFileSync(join(root, 'services/Dockerfile'), 'utf8');
const majorOf = (text: string) => /\d+/.exec(text)?.[0];

test.each(['api', 'worker', 'push-gateway', 'console', 'authctl'])(
  'the image, the package and the process of %s agree on Node',
  (service) => {
    const { engines } = JSON.parse(readFileSync(join(root, 'services', service, 'package.json'), 'utf8'));
    const ofPackage = majorOf(engines.node);
    const ofImage = new RegExp(`^FROM runtime-(\\d+) AS ${service}$`, 'm').exec(dockerfile)?.[1];
    const ofProcess = execFileSync(nodeFor(join(root, 'services', service, 'src/main.ts')), ['--version'], {
      encoding: 'utf8',
    });
    expect({ ofImage, ofProcess: majorOf(ofProcess) }).toEqual({ ofImage: ofPackage, ofProcess: ofPackage });
  },
);

test('a program without a version of its own runs on the Node of this process', () => {
  expect(nodeFor(import.meta.filename)).toBe(process.execPath);
});
