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

if (!chromiumPath) {
  console.warn(
    'The page of a trace is not tested: there is no Chromium. Install it, or set CHROMIUM',
  );
}

const directory = useTempDir();

/** Texts that would do something if they were anything but text. */
const HOSTILE = [
  '</script><script>window.pwned = 1</script>',
  '<img src=x onerror="window.pwned = 1">',
  '<!-- <script>',
  '\u001b[31mred',
  '__proto__',
  "{{data}} $& $' POLICY <!-- script -->",
];

function shortSession(): SpanRecord[] {
  const session = record({ kind: 'session', name: 'short', durationMs: 100, verdict: 'stop' });
  const tool = record({ parent: session.id, kind: 'tool', name: 'write_file', durationMs: 60 });
  const of = (event: string) =>
    record({ parent: tool.id, kind: 'event', name: event, event, durationMs: 50 });
  const [before, after] = [of('BeforeTool'), of('AfterTool')];
  const move = record({
    parent: before.id,
    event: 'BeforeTool',
    name: 'move',
    verdict: 'change',
    durationMs: 40,
    process: 'kept',
    change: '@@ tool_input.file_path\n- a.txt\n+ drafts/a.txt',
    input: '{"tool_name":"write_file"}',
    output: '{"ok":true}',
  });
  const review = record({
    parent: after.id,
    event: 'AfterTool',
    name: 'review',
    verdict: 'stop',
    reason: 'Please review a.txt.',
    durationMs: 5,
  });
  return [session, tool, before, after, move, review];
}

describe.skipIf(!chromiumPath)('the page of a trace', () => {
  let browser: Browser;
  let page: Page;
  /** What the page asked for, and what went wrong in it. */
  let requests: string[] = [];
  let faults: string[] = [];

  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    await page.close();
    expect(faults).toEqual([]);
    expect(requests).toEqual([expect.stringMatching(/^file:.*\/trace\.html$/)]);
  });

  async function open(spans: readonly SpanRecord[]): Promise<void> {
    const file = path.join(directory.path, 'trace.html');
    await writeFile(file, renderPage(storyOf(spans), 'trace.jsonl'));
    [requests, faults] = [[], []];
    page = await browser.newPage({ viewport: { width: 1200, height: 700 } });
    page.on('request', (request) => requests.push(request.url()));
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => faults.push(message.text()));
    await page.goto(pathToFileURL(file).href);
    await page.getByRole('status').filter({ hasText: 'spans' }).waitFor();
  }

  const titles = () => page.locator('.row .title').allTextContents();
  const row = (name: string) =>
    page.locator('.row').filter({ has: page.getByText(name, { exact: true }) });
  const styleOf = (selector: string, property: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);
  const details = () => page.getByRole('complementary', { name: 'Details' });

  it('shows the story in order', async () => {
    await open(shortSession());
    expect(await titles()).toEqual([
      'short',
      'write_file',
      'BeforeTool',
      'move',
      'AfterTool',
      'review',
    ]);
    expect(await page.getByRole('status').textContent()).toBe('6 spans · 100 ms');
    expect(await row('move').getAttribute('aria-level')).toBe('4');
  });

  it('shows what a hook read, changed and printed, when its row is clicked', async () => {
    await open(shortSession());
    await row('move').click();
    expect(await details().locator('.removed').textContent()).toBe('- a.txt');
    expect(await details().locator('.added').textContent()).toBe('+ drafts/a.txt');
    const input = details().getByRole('region', { name: 'Input' });
    expect(await input.textContent()).toContain('write_file');
    const output = details().getByRole('region', { name: 'Output' });
    expect(await output.textContent()).toBe('{\n  "ok": true\n}');

    expect(await details().locator('dl').textContent()).toContain('Processkept');

    await row('review').click();
    expect(await details().locator('dl').textContent()).not.toContain('Process');
    expect(await details().locator('.reason').textContent()).toBe('Please review a.txt.');
    await details().getByRole('button', { name: 'Close' }).click();
    expect(await details().isVisible()).toBe(false);
  });

  it.each<{ by: string; filter: () => Promise<unknown>; shown: string[] }>([
    {
      by: 'event, with what contains it',
      filter: () => page.getByLabel('Event').selectOption('AfterTool'),
      shown: ['short', 'write_file', 'AfterTool', 'review'],
    },
    {
      by: 'hook',
      filter: () => page.getByLabel('Hook').selectOption('move'),
      shown: ['short', 'write_file', 'BeforeTool', 'move'],
    },
    {
      by: 'verdict',
      filter: () => page.getByRole('button', { name: 'change 1' }).click(),
      shown: ['short', 'write_file', 'BeforeTool', 'move'],
    },
    {
      by: 'text of the reason',
      filter: () => page.getByLabel('Find').fill('PLEASE'),
      shown: ['short', 'write_file', 'AfterTool', 'review'],
    },
    {
      by: 'text that nothing has',
      filter: () => page.getByLabel('Find').fill('nothing like it'),
      shown: [],
    },
  ])('shows fewer spans, by $by', async ({ filter, shown }) => {
    await open(shortSession());
    await filter();
    expect(await titles()).toEqual(shown);
  });

  it('shows the slowest first, by the time of their own', async () => {
    await open(shortSession());
    await page.getByRole('button', { name: 'Slowest first' }).click();
    expect((await titles()).slice(0, 3)).toEqual(['AfterTool', 'short', 'move']);
    await page.getByRole('button', { name: 'Slowest first' }).click();
    expect((await titles())[0]).toBe('short');
  });

  it('is used by keyboard alone', async () => {
    await open(shortSession());
    const grid = page.getByRole('treegrid');
    const activeTitle = async () => {
      const id = await grid.getAttribute('aria-activedescendant');
      return page.locator(`#${id} .title`).textContent();
    };
    for (let presses = 0; presses < 20; presses++) {
      await page.keyboard.press('Tab');
      if ((await page.locator('#grid:focus').count()) > 0) break;
    }
    expect(await activeTitle()).toBe('short');

    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('ArrowDown');
    expect(await activeTitle()).toBe('move');
    const shadow = await styleOf('.row.active', 'boxShadow');
    expect(shadow).not.toBe('none');

    await page.keyboard.press('Enter');
    expect(await details().locator('.added').textContent()).toBe('+ drafts/a.txt');
    await page.keyboard.press('End');
    expect(await details().getByRole('heading', { level: 2 }).textContent()).toContain('review');
    await page.keyboard.press('Enter');
    expect(await page.locator('#details:focus').count()).toBe(1);
    await page.keyboard.press('Escape');
    expect(await details().isVisible()).toBe(false);

    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowLeft');
    expect(await titles()).toEqual(['short']);
    expect(await row('short').getAttribute('aria-expanded')).toBe('false');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    expect(await activeTitle()).toBe('write_file');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    expect(await activeTitle()).toBe('short');
  });

  it('has ten thousand spans within seconds, of which a few dozen are drawn', async () => {
    const startedAt = performance.now();
    await open(longSession(10_000));
    expect(await page.getByRole('status').textContent()).toMatch(/^10000 spans/);
    await page.getByRole('treegrid').focus();
    await page.keyboard.press('End');
    await page.locator('#span-9999').waitFor();
    await page.getByLabel('Hook').selectOption('second');
    await page.getByRole('button', { name: 'Slowest first' }).click();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(await page.locator('.row').count()).toBeLessThan(80);
    expect(new Set(await titles())).toEqual(new Set(['second']));
  });

  it('shows whatever a span says as text', async () => {
    const spans = HOSTILE.map((text, index) =>
      record({ start: index, name: text, event: text, reason: text, change: text, output: text }),
    );
    await open([...spans, record({ id: '__proto__', parent: '__proto__' })]);
    expect((await titles()).slice(0, HOSTILE.length)).toEqual(HOSTILE);
    for (const [index, text] of HOSTILE.entries()) {
      await page.locator('.row').nth(index).click();
      expect(await details().locator('.reason').textContent()).toBe(text);
      expect(await details().getByRole('region', { name: 'Change' }).textContent()).toBe(text);
    }
    expect(await page.evaluate('"pwned" in window')).toBe(false);
    expect(await page.locator('img').count()).toBe(0);
  });

  it('shows one session of several, the last one first', async () => {
    const sessions = ['first', 'second'].map((name, index) =>
      record({ kind: 'session', name, start: index * 1_000_000 }),
    );
    await open([...sessions, record({ name: 'fired later', start: 3_000_000 })]);
    expect(await titles()).toEqual(['fired later']);
    await page.getByLabel('Session').selectOption({ index: 1 });
    expect(await titles()).toEqual(['first']);
    await page.getByLabel('Session').selectOption({ index: 0 });
    expect(await titles()).toEqual(['first', 'second', 'fired later']);
  });

  it('tells the time of people apart from that of hooks', async () => {
    const session = record({ kind: 'session', name: 'asking', durationMs: 100_000 });
    const tool = record({ parent: session.id, kind: 'tool', name: 'deploy', durationMs: 99_000 });
    const event = 'BeforeTool';
    const fired = { parent: tool.id, kind: 'event', name: event, event, durationMs: 20 } as const;
    const before = record(fired);
    const hook = record({ parent: before.id, event, name: 'careful', durationMs: 10 });
    const question = record({
      parent: tool.id,
      kind: 'question',
      event,
      name: 'careful',
      start: 1_050,
      durationMs: 90_000,
      verdict: 'block',
      reason: 'Not on a Friday.',
      input: '{"tool_name":"deploy","tool_input":{"to":"eu"}}',
      output: '{"source":"person","by":"ada"}',
    });
    // Asked side by side: that time is one.
    const other = { ...question, id: '0123456789abcdef', verdict: 'allow' } as const;
    await open([session, tool, before, hook, question, other]);
    const overview = page.locator('#overview');
    expect(await overview.locator('summary').textContent()).toBe(
      'Hooks took 10 ms of 100 s; people were asked for 90 s',
    );
    expect(await overview.locator('tbody tr').allTextContents()).toEqual([
      'careful (BeforeTool)110 ms10 ms0',
    ]);
    expect(await page.getByLabel('Hook').locator('option').allTextContents()).toEqual([
      'all',
      'careful',
    ]);
    expect(await styleOf('.k-question .bar', 'backgroundImage')).toContain('gradient');

    await page.getByRole('button', { name: 'Next block' }).click();
    expect(await details().getByRole('heading', { level: 2 }).textContent()).toBe(
      'questioncareful',
    );
    expect(await details().locator('.reason').textContent()).toBe('Not on a Friday.');
    expect(await details().getByRole('region', { name: 'Output' }).textContent()).toContain('ada');
    await page.getByLabel('Find').fill('friday');
    expect(await titles()).toEqual(['asking', 'deploy', 'careful', 'careful']);
  });

  it('says so where there are no spans', async () => {
    await open([]);
    expect(await page.getByText('No span is like that').isVisible()).toBe(true);
  });

  it('is dark where the reader likes that', async () => {
    await open(shortSession());
    expect(await styleOf('body', 'backgroundColor')).toBe('rgb(255, 255, 255)');
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await styleOf('body', 'backgroundColor')).toBe('rgb(13, 17, 23)');
  });

  it('refuses a script that is not its own, and talks to nobody', async () => {
    await open(shortSession());
    const outcome = await page.evaluate(`(async () => {
      const script = document.createElement('script');
      script.textContent = 'window.pwned = 1';
      document.body.append(script);
      const fetched = await fetch('https://example.com/').then(String, () => 'refused');
      return { ran: 'pwned' in window, fetched };
    })()`);
    expect(outcome).toEqual({ ran: false, fetched: 'refused' });
    expect(faults.join('\n')).toContain('Content Security Policy');
    faults = [];
  });
});
