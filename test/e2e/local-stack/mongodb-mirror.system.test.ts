import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { provideMongodbBinary } from '@auth-account/local-stack';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { listen } from '../../support/listen.ts';
import { runProgram } from './run-program.ts';

/** Matches MongoDB's own name of an archive of the requested version. */
const ARCHIVE = /^\/(linux|osx)\/mongodb-(linux|macos)-\w+(-\w+)?-8\.0\.17\.tgz$/;

let dir: string;
let archive: string;
let md5: string;
let mirror: Awaited<ReturnType<typeof listen>>;
let asked: string[];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'auth-account-mirror-'));
  archive = await packBinary(await provideMongodbBinary({ log: () => undefined }));
  md5 = createHash('md5')
    .update(await readFile(archive))
    .digest('hex');
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    if (request.method === 'GET') asked.push(path);
    if (ARCHIVE.test(path)) {
      response.setHeader('Content-Length', (await stat(archive)).size);
      createReadStream(archive).pipe(response);
    } else if (ARCHIVE.test(path.replace(/\.md5$/, ''))) {
      response.setHeader('Content-Length', md5.length).end(md5);
    } else {
      response.writeHead(404).end();
    }
  });
  mirror = await listen(server);
});
afterAll(async () => {
  await mirror.close();
  await rm(dir, { recursive: true });
});
beforeEach(() => {
  asked = [];
});

/** Packs the installed mongod into an archive like MongoDB's own. */
async function packBinary(binary: string): Promise<string> {
  const content = join(dir, 'content');
  await mkdir(join(content, 'mongodb', 'bin'), { recursive: true });
  await symlink(binary, join(content, 'mongodb', 'bin', 'mongod'));
  const file = join(dir, 'archive.tgz');
  const args = ['--use-compress-program', 'gzip -1', '-chf', file, '-C', content, 'mongodb'];
  await promisify(execFile)('tar', args);
  return file;
}

function envWithMirror(cache: string): NodeJS.ProcessEnv {
  return {
    PATH: dir,
    LOCAL_STACK_CACHE_DIR: join(dir, cache),
    MONGOMS_DOWNLOAD_MIRROR: mirror.url,
    MONGOMS_USE_HTTP: '1',
  };
}

describe("mongodb-memory-server's download from a mirror", () => {
  test('the archive is downloaded, checked and started; the next start finds it in the cache', async () => {
    const first = runProgram('fixtures/provide-mongodb.ts', envWithMirror('cache'));
    expect(await first.ended).toBe(0);
    expect(first.output()).toMatch(/download of MongoDB 8\.0\.17 by mongodb-memory-server\? yes, .*mongod-x64/);
    expect(first.output()).toMatch(/\nversion \d+\.\d+\.\d+\n$/);
    expect(asked).toEqual([expect.stringMatching(ARCHIVE), expect.stringMatching(/\.tgz\.md5$/)]);

    asked = [];
    const second = runProgram('fixtures/provide-mongodb.ts', envWithMirror('cache'));
    expect(await second.ended).toBe(0);
    expect(second.output()).toContain('MongoDB: downloaded earlier? yes');
    expect(asked).toEqual([]);
  });

  test('an archive that is not what its checksum says is not used', async () => {
    const whole = archive;
    archive = join(dir, 'tampered.tgz');
    await writeFile(archive, 'not what was published');
    const program = runProgram('fixtures/provide-mongodb.ts', envWithMirror('other-cache'));
    expect(await program.ended).toBe(1);
    archive = whole;
    expect(program.output()).toMatch(/by mongodb-memory-server\? no \(.*MD5 check failed/i);
  });
});
