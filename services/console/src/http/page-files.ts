import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { Express, RequestHandler } from 'express';
import { factsOf } from './begin-request.ts';

/** Files of the page by path: `/`, `/console.js`, `/console.css`. */
export type PageFiles = ReadonlyMap<string, { readonly type: string; readonly body: Uint8Array | string }>;

/** Beside the bundle, whose image has no sources. */
const builtDir = fileURLToPath(new URL('./page/', import.meta.url));
const sourceDir = fileURLToPath(new URL('../../page/', import.meta.url));

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Reads the built page, or builds it from its sources. Throws errors of the file system and of esbuild. */
export async function readPage(): Promise<PageFiles> {
  if (existsSync(builtDir)) return readBuilt(builtDir);
  // The name is no literal, because a bundle has no esbuild.
  const builder = '@auth-account/page/build';
  const { buildPage } = (await import(builder)) as {
    buildPage(source: { readonly pageDir: string; readonly name: string }): Promise<PageFiles>;
  };
  return buildPage({ pageDir: sourceDir, name: 'console' });
}

async function readBuilt(dir: string): Promise<PageFiles> {
  const names = (await readdir(dir)).filter((name) => Object.hasOwn(types, extname(name)));
  const read = names.map(async (name) => {
    const file = { type: types[extname(name)] ?? '', body: await readFile(join(dir, name)) };
    return [name === 'index.html' ? '/' : `/${name}`, file] as const;
  });
  return new Map(await Promise.all(read));
}

const views = [
  '/',
  '/accounts/*id',
  '/groups/*id',
  '/requests/*id',
  '/events/*id',
  '/consents',
  '/consents/*id',
  '/system',
];

/** Serves the page at the paths of all its views, and its files. None of them has data, so nobody needs to be signed in. */
export function mountPage(app: Express, read: () => Promise<PageFiles>): void {
  let reading: Promise<ReadonlyMap<string, ServedFile>> | undefined;
  const files = () => {
    reading ??= read().then(prepare);
    // A failed build is tried again.
    reading.catch(() => {
      reading = undefined;
    });
    return reading;
  };
  const serve = (pathOf: (path: string) => string): RequestHandler => {
    return async (req, res, next) => {
      const file = (await files()).get(pathOf(req.path));
      if (file === undefined) return next();
      factsOf(res).route = 'page';
      const { encoding, body } = chosen(file, req.acceptsEncodings('br', 'gzip'));
      res.set({ 'Content-Type': file.type, 'Cache-Control': 'no-cache', ETag: file.etag, Vary: 'Accept-Encoding' });
      if (req.headers['if-none-match'] === file.etag) return res.status(304).end();
      if (encoding !== undefined) res.setHeader('Content-Encoding', encoding);
      return res.end(body);
    };
  };
  app.get(
    views,
    serve(() => '/'),
  );
  app.get(
    '/:file',
    serve((path) => path),
  );
}

interface ServedFile {
  readonly type: string;
  readonly etag: string;
  readonly plain: Uint8Array;
  readonly br: Uint8Array;
  readonly gzip: Uint8Array;
}

function chosen(file: ServedFile, encoding: string | false) {
  if (encoding === 'br' || encoding === 'gzip') return { encoding, body: file[encoding] };
  return { encoding: undefined, body: file.plain };
}

async function prepare(files: PageFiles): Promise<ReadonlyMap<string, ServedFile>> {
  const prepared = [...files].map(async ([path, { type, body }]) => {
    const plain = Buffer.from(body);
    const [br, zipped] = await Promise.all([promisify(brotliCompress)(plain), promisify(gzip)(plain)]);
    const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
    return [path, { type, etag, plain, br, gzip: zipped }] as const;
  });
  return new Map(await Promise.all(prepared));
}
