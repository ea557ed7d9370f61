import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SpanRecord } from '../../src/trace/record.js';
import { renderPage } from '../../src/cli/trace/renderPage.js';
import { storyOf } from '../../src/cli/trace/story.js';
import { useTempDir } from '../helpers/tempDir.js';
import { chromiumPath, launchChromium } from './browser.mjs';
import { longSession, record } from './helpers.js';

const directory = useTempDir();
const REPLAY = "hookstack fire --from-trace 'a b.jsonl' --span";

/** Three sessions, an hour apart. A call is blocked in the first one and in the last one. */
const SESSIONS = [3_333, 3_333, 3_334].map((count, at) =>
  longSession(count).map((span, index): SpanRecord => {
    const start = span.start + at * 3_600_000;
    if (index === 0) {
      const stop = { verdict: 'stop', reason: 'Enough for today.' } as const;
      return { ...span, start, input: `Task number ${at + 1}`, ...(at === 2 && stop) };
    }
    const isGuard = index === 103 && at !== 1;
    const reason = `No secrets ${'at all '.repeat(40)}`;
    const isMarked = index === 2_003 && at === 1;
    const input = isMarked ? '{"content": "say \\"needle\\" once"}' : span.input;
    return {
      ...span,
      start,
      ...(input !== undefined && { input }),
      ...(isMarked && { id: '0123456789abcdef' }),
      ...(isGuard && { kind: 'hook', name: 'guard', verdict: 'block', reason }),
    };
  }),
);

describe.skipIf(!chromiumPath)('the page of three sessions with ten thousand spans', () => {
  let browser: Browser;
  let page: Page;
  let faults: string[] = [];

  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    await page.close();
    expect(faults).toEqual([]);
  });

  async function open({ width = 1200, hash = '', sessions = SESSIONS } = {}): Promise<void> {
    const file = path.join(directory.path, 'trace.html');
    await writeFile(file, renderPage(storyOf(sessions.flat()), 'a b.jsonl', REPLAY));
    faults = [];
    page = await browser.newPage({ viewport: { width, height: 740 } });
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(`${pathToFileURL(file).href}${hash}`);
    await page.getByRole('status').filter({ hasText: 'spans' }).waitFor();
  }

  const showAll = () => page.getByLabel('Session').selectOption({ index: 0 });
  const titles = () => page.locator('.row .title').allTextContents();
  const details = () => page.getByRole('complementary', { name: 'Details' });

  it('finds what is in contents, in less than 200 ms', async ({ annotate }) => {
    await open();
    await showAll();
    const search = (text: string) =>
      page.evaluate<number>(`(() => {
        const field = document.getElementById('text');
        const startedAt = performance.now();
        field.value = ${JSON.stringify(text)};
        field.dispatchEvent(new Event('input'));
        document.body.getBoundingClientRect();
        return performance.now() - startedAt;
      })()`);
    const first = await search('nothing like it');
    const times = [];
    for (const text of ['needl', 'SAY "needle', 'say "needle" once'])
      times.push(await search(text));
    await annotate(
      `search: first ${first.toFixed(1)} ms, then ${times.map((ms) => ms.toFixed(1)).join(', ')} ms`,
    );
    expect(await page.getByRole('status').textContent()).toMatch(/^1 of 10000 spans/);
    // A busy machine may be slow now and then.
    expect(Math.min(...times)).toBeLessThan(200);
    expect(first).toBeLessThan(2_000);
  });

  it('sums up each session: what was asked, what came of it, and what each hook took', async () => {
    await open();
    const overview = page.locator('#overview');
    await showAll();
    expect(await overview.locator('#told p').count()).toBe(3);
    const [one, two, three] = await overview.locator('#told p').allTextContents();
    expect(one).toMatch(/Task number 1 allow 1 blocked or stopped\. $/);
    expect(two).toMatch(/Task number 2 allow $/);
    expect(three).toMatch(/Task number 3 stop 1 blocked or stopped\. Enough for today\.$/);

    const hooks = SESSIONS.flat().filter(({ kind }) => kind === 'hook');
    // Those of one event begin together.
    const longest = new Map<string | null, number>();
    for (const { parent, durationMs } of hooks) {
      longest.set(parent, Math.max(durationMs, longest.get(parent) ?? 0));
    }
    const took = [...longest.values()].reduce((sum, ms) => sum + ms, 0);
    expect(await overview.locator('summary').textContent()).toBe(
      `Hooks took ${Number((took / 1000).toFixed(2))} s of 100 s`,
    );
    const expected = ['second', 'first', 'guard'].map((name) => {
      const runs = hooks.filter((hook) => hook.name === name);
      const times = runs.map(({ durationMs }) => durationMs).toSorted((a, b) => a - b);
      const [low = 0, high = 0] = [0, 1].map((odd) => times[(times.length - 1 + odd) >> 1]);
      const blocks = name === 'guard' ? '2' : '0';
      return [
        `${name} (BeforeTool)`,
        String(runs.length),
        inMs((low + high) / 2),
        inMs(times.at(-1)),
        blocks,
      ];
    });
    const rows = await overview.locator('tbody tr').all();
    const cells = await Promise.all(rows.map((row) => row.locator('td').allTextContents()));
    expect(cells).toEqual(expected);
  });

  it('shows sessions apart or together, and jumps from block to block', async () => {
    await open();
    expect((await titles())[0]).toBe('Task number 3');
    const selected = () => page.locator('.row[aria-selected=true]').getAttribute('id');
    const next = page.getByRole('button', { name: 'Next block' });
    await next.click();
    const last = await selected();
    await next.click();
    expect(await selected()).toBe(last);

    await showAll();
    expect((await titles())[0]).toBe('Task number 1');
    await next.click();
    expect(await selected()).toBe('span-103');
    expect(await details().locator('.reason').textContent()).toContain('No secrets');
    await page.getByRole('treegrid').press('b');
    expect(await selected()).toBe(last);
    const box = await page.locator('.row[aria-selected=true]').boundingBox();
    expect(box!.y + box!.height).toBeLessThanOrEqual(740);

    await page.getByLabel('Session').selectOption({ index: 2 });
    expect((await titles())[0]).toBe('Task number 2');
    expect(await next.isDisabled()).toBe(true);
  });

  it('has a link to each span, and its replay to copy', async () => {
    await open({ hash: '#0123456789abcdef' });
    expect((await titles()).length).toBeGreaterThan(5);
    expect(await details().getByRole('region', { name: 'Input' }).textContent()).toContain(
      'needle',
    );
    const link = details().getByRole('link', { name: 'Link to this span' });
    expect(await link.getAttribute('href')).toBe('#0123456789abcdef');

    const { id } = SESSIONS[1]!.find((span) => span.kind === 'event')!;
    await page.evaluate(`location.hash = '${id}'`);
    const command = details().getByRole('region', { name: 'Replay' });
    expect(await command.textContent()).toBe(`${REPLAY} ${id}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await details().getByRole('button', { name: 'Copy the command' }).click();
    await details().getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`${REPLAY} ${id}`);
  });

  it('offers no command for an id that could be more than an id', async () => {
    const event = record({ id: '$(x)', kind: 'event', name: 'BeforeTool', event: 'BeforeTool' });
    await open({ sessions: [[event]] });
    await page.locator('.row').click();
    expect(await details().getByRole('button').allTextContents()).toEqual(['Close']);
  });

  it('has no time column and nothing that overlaps on a phone', async () => {
    await open({ width: 360 });
    await showAll();
    await page.locator('#overview summary').click();
    await page.getByRole('button', { name: 'Next block' }).click();
    expect(await page.locator('.cell-time:visible').count()).toBe(0);
    expect(await page.evaluate(OVERLAPS)).toEqual([]);
    const widths = '[document.documentElement, document.getElementById("grid")]';
    expect(
      await page.evaluate(`${widths}.map((each) => each.scrollWidth - each.clientWidth)`),
    ).toEqual([0, 0]);
    expect(await page.evaluate('innerWidth')).toBe(360);
  });

  it('is printed whole', { timeout: 120_000 }, async () => {
    await open();
    await showAll();
    await page.emulateMedia({ media: 'print' });
    await page.locator('#span-9999').waitFor();
    expect(await page.locator('.row').count()).toBe(10_000);
    expect(await page.locator('#filters').isVisible()).toBe(false);
    expect(await page.locator('.row .reason').count()).toBe(2);
    expect(await page.evaluate(CUT)).toEqual([]);
    await page.emulateMedia({ media: null });
    await page.locator('#span-9999').waitFor({ state: 'detached' });
  });

  it('has a row on paper for each span', async () => {
    await open({ sessions: [longSession(400)] });
    const pdf = await page.pdf();
    // Some 20 rows fit on a page; without being drawn anew, some 40 would be all.
    expect(pdf.toString('latin1').match(/\/Type ?\/Page\b/g)?.length).toBeGreaterThan(10);
    expect(await page.locator('.row').count()).toBeLessThan(80);
  });
});

function inMs(value = 0): string {
  return value >= 10 ? `${Math.round(value)} ms` : `${value.toFixed(1)} ms`;
}

/** Pairs of neighbours whose boxes overlap, and what does not stay within its own parent. */
const OVERLAPS = `(() => {
  const found = [];
  const groups = ['body', 'header', '#told', '#hooks tr', '#filters', '#verdicts', '#axis', '#head', '.row', '#rows'];
  for (const group of groups.flatMap((each) => [...document.querySelectorAll(each)])) {
    const boxes = [...group.children]
      .filter((each) => each.checkVisibility() && !each.matches('.bar, script'))
      .map((each) => [each, each.getBoundingClientRect()]);
    const around = group.getBoundingClientRect();
    for (const [index, [one, a]] of boxes.entries()) {
      if (a.right > around.right + 1) found.push([one.outerHTML.slice(0, 80), 'leaves its parent']);
      for (const [two, b] of boxes.slice(index + 1)) {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 1) found.push([one.outerHTML.slice(0, 80), two.outerHTML.slice(0, 80)]);
      }
    }
  }
  return found.slice(0, 5);
})()`;

/** What hides a part of its content, and rows that do not follow one another. */
const CUT = `(() => {
  const found = [];
  for (const each of document.querySelectorAll('body *')) {
    if (!each.checkVisibility() || each.matches('script, .cell-lane')) continue;
    const isCut = each.scrollHeight > each.clientHeight + 1 || each.scrollWidth > each.clientWidth + 1;
    if (isCut && getComputedStyle(each).overflow !== 'visible') found.push(each.outerHTML.slice(0, 120));
  }
  const boxes = [...document.querySelectorAll('.row')].map((row) => row.getBoundingClientRect());
  boxes.forEach((box, index) => {
    if (index > 0 && box.top < boxes[index - 1].bottom - 1) found.push('row ' + index);
  });
  return found.slice(0, 5);
})()`;
