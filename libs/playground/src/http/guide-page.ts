import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PageFile } from '@auth-account/page/build';
import { Marked } from 'marked';

const guidesDir = join(import.meta.dirname, '../../../../docs');

/** Matches the pages of `docs/` and `docs/specification/`, but no other file on the machine. */
const guideName = /^(?:specification\/)?[a-z0-9-]+\.md$/;

/** Gives each heading the id that links in the pages use. */
const toHtml = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      const id = text
        .toLowerCase()
        .replace(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-');
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
  },
});

/** Renders a guide as a page. Returns undefined if there is none with that name. */
export async function guidePage(name: string): Promise<PageFile | undefined> {
  if (!guideName.test(name)) return undefined;
  const text = await readFile(join(guidesDir, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return;
    throw error;
  });
  if (text === undefined) return undefined;
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/playground.css">
</head>
<body class="guide">${await toHtml.parse(text)}</body>
</html>
`;
  return { type: 'text/html; charset=utf-8', body };
}
