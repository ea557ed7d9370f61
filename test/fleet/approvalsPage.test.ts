import type { Browser, Page } from 'playwright-core';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Approvals } from '../../src/approvals/approvals.js';
import { remoteApprover } from '../../src/fleet/remoteApprover.js';
import { DebugLogger } from '../../src/util/debugLogger.js';
import { startNats, type TestNats } from '../helpers/natsServer.js';
import { chromiumPath, launchChromium } from '../trace/browser.mjs';
import { connectAs, postOver, requestOf, startServer, type TestServer } from './approvalHelpers.js';

if (!chromiumPath) {
  console.warn(
    'The page of approvals is not tested: there is no Chromium. Install it, or set CHROMIUM',
  );
}

/** Texts that would do something if they were anything but text. */
const HOSTILE = '<img src=x onerror="window.pwned = 1"></script><script>window.pwned = 1</script>';

describe.skipIf(!chromiumPath)('the page of approvals, in a browser', () => {
  let nats: TestNats;
  let server: TestServer;
  let agent: NatsConnection;
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];

  beforeAll(async () => {
    [nats, browser] = await Promise.all([startNats(), launchChromium()]);
    [server, agent] = await Promise.all([startServer(nats), connectAs(nats, 'one')]);
    page = await browser.newPage({ viewport: { width: 400, height: 700 } });
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    await page.goto(`${server.origin}/approvals`);
  });
  afterAll(async () => {
    await browser.close();
    await agent.close();
    await server.kill();
    await nats.dispose();
  });

  function ask(change: Parameters<typeof requestOf>[0]) {
    const approvals = new Approvals(
      remoteApprover(postOver(agent, 'one')),
      { timeout: 20_000 },
      new DebugLogger('test'),
    );
    return approvals.ask({ ...requestOf(change), definitions: [], isGuarded: false });
  }

  const shownText = () => page.locator('article').innerText();

  it('lets somebody in with his token only', async () => {
    await page.getByLabel('Your token').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('This token is not known').waitFor();
    await page.getByLabel('Your token').fill('token-of-anna-0123456789');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('signed in as anna').waitFor();
    await page.getByText('No question waits.').waitFor();
    // The browser itself says that the first one was refused.
    faults.length = 0;
  });

  it('shows a question live, with what hooks changed, and allows it', async () => {
    const asked = ask({
      input: { command: 'rm -rf build/cache' },
      originalInput: { command: 'rm -rf /' },
    });
    await page.getByText('1 question waits.').waitFor();
    const text = await shownText();
    expect(text).toContain('acme/one · run_shell_command');
    expect(text).toContain('careful (project): it removes something');
    expect(text).toMatch(/command\s+rm -rf build\/cache\s+Changed by hooks/);
    expect(await page.locator('.diff .removed').innerText()).toBe('- rm -rf /');
    expect(await page.locator('.diff .added').innerText()).toBe('+ rm -rf build/cache');
    expect(text).toMatch(/1\d s left/);
    await page.getByLabel('Reason').fill('only the cache');
    await page.getByLabel('do not ask again in this session').check();
    await page.getByRole('button', { name: 'Allow' }).click();
    expect(await asked).toEqual({
      decision: 'allow',
      reason: 'only the cache',
      remember: 'session',
      by: 'anna',
      source: 'person',
    });
    await page.getByText('No question waits.').waitFor();
    expect(await page.locator('#over').innerText()).toContain('run_shell_command: allowed by anna');
  });

  it('shows hostile texts as texts, and spells out what cannot be seen', async () => {
    const asked = ask({
      toolName: HOSTILE,
      hooks: [{ name: HOSTILE, source: 'project', reason: HOSTILE }],
      input: { [HOSTILE]: HOSTILE, command: 'ls \u202Etxt.exe\u0000\u200B\nrm' },
      originalInput: {},
      workingDir: HOSTILE,
    });
    await page.getByText('1 question waits.').waitFor();
    const text = await shownText();
    expect(text.split(HOSTILE).length).toBeGreaterThan(6);
    expect(text).toContain('ls \\u202etxt.exe\\x00\\u200b\nrm');
    expect(await page.locator('pre').nth(1).locator('mark').allInnerTexts()).toEqual([
      '\\u202e',
      '\\x00',
      '\\u200b',
    ]);
    expect(await page.evaluate('window.pwned')).toBeUndefined();
    // Nothing is wider than a small screen.
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(400);
    // By keyboard.
    await page.getByLabel('Reason').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await asked).toEqual({ decision: 'deny', by: 'anna', source: 'person' });
  });

  it('shows what is open to whoever comes later, and nothing after the sign-out', async () => {
    const asked = ask({});
    await page.getByText('1 question waits.').waitFor();
    await page.reload();
    await page.getByText('1 question waits.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Your token').waitFor();
    expect(await page.locator('article').count()).toBe(0);
    const [open] = server.board.list();
    await server.board.answer(open?.key ?? '', open?.revision ?? 0, {
      decision: 'deny',
      by: 'ben',
    });
    expect(await asked).toMatchObject({ by: 'ben' });
    expect(faults).toEqual([]);
  });
});
