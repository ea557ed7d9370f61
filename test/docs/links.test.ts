import { access } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { findDocuments, readDocument, ROOT, withoutSnippets } from './markdown.js';

describe.each(await findDocuments())('the links of %s', (document) => {
  it('lead to files and headings that exist', async () => {
    const links = findLinks(await readDocument(document));

    const broken = [];
    for (const link of links) {
      const problem = await findProblem(document, link);
      if (problem) broken.push(`${link}: ${problem}`);
    }

    expect(broken).toEqual([]);
  });
});

describe('the pages of the package', async () => {
  const { stdout } = await execa('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
  });
  const [packed] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const files = packed.files.map((file) => file.path);
  const pages = files.filter((file) => file.endsWith('.md'));

  it('are those that users need', () => {
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/guide.md', 'docs/cli.md']));
  });

  it.each(pages)('%s leads to nothing that is only in the repository', async (page) => {
    const links = findLinks(withoutPictures(await readDocument(page)));
    const targets = links
      .map((link) => link.split('#', 1)[0] ?? '')
      .filter((file) => file !== '')
      .map((file) => path.join(path.dirname(page), file));
    expect(targets.filter((target) => !files.includes(target))).toEqual([]);
  });
});

/** A picture that is not there has its text. */
function withoutPictures(markdown: string): string {
  return markdown.replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '');
}

/** Relative links, also those of reference definitions; not those to other sites. */
function findLinks(markdown: string): string[] {
  const text = withoutSnippets(markdown).replaceAll(/`[^`\n]*`/g, '');
  const links = text.matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)/gm);
  return Array.from(links, ([, inline, reference]) => inline ?? reference ?? '').filter(
    (link) => !/^[a-z]+:/.test(link),
  );
}

async function findProblem(document: string, link: string): Promise<string | undefined> {
  const [file = '', anchor] = link.split('#', 2);
  const target = file === '' ? document : path.join(path.dirname(document), file);
  try {
    await access(path.join(ROOT, target));
  } catch {
    return `there is no ${target}`;
  }
  if (anchor === undefined) return undefined;
  const anchors = findAnchors(await readDocument(target));
  return anchors.includes(anchor) ? undefined : `${target} has no heading for it`;
}

/** The anchors that a forge makes of headings. */
function findAnchors(markdown: string): string[] {
  const seen = new Map<string, number>();
  const headings = withoutSnippets(markdown).matchAll(/^#{1,6} +(.+)$/gm);
  return Array.from(headings, ([, heading = '']) => {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}\-_ ]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}
