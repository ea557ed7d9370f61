import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Approvals } from '../../src/approvals/approvals.js';
import { remoteApprover } from '../../src/fleet/fleetApprover.js';
import { DebugLogger } from '../../src/util/debugLogger.js';
import { replaceApprovers } from '../../src/cli/serve/approvals/signIn.js';
import { OidcPeople } from '../../src/cli/shared/people/oidc.js';
import { peopleWithTokens } from '../../src/cli/shared/people/people.js';
import { Roles } from '../../src/cli/shared/people/roles.js';
import { freePort, startNats, type TestNats } from '../helpers/natsServer.js';
import { startOidcProvider } from '../helpers/oidcProvider.js';
import { useTempDir } from '../helpers/tempDir.js';
import { chromiumPath, launchChromium } from '../trace/browser.mjs';
import {
  connectAs,
  postOver,
  putQuestion,
  requestOf,
  startServer,
  tokensOf,
  type TestServer,
} from './approvalHelpers.js';

if (!chromiumPath) {
  console.warn(
    'The page of approvals is not tested: there is no Chromium. Install it, or set CHROMIUM',
  );
}

/** Texts that would do something if they were anything but text. */
const HOSTILE = '<img src=x onerror="window.pwned = 1"></script><script>window.pwned = 1</script>';

const temp = useTempDir();

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

  function ask(change: Parameters<typeof requestOf>[0], signal?: AbortSignal) {
    const approvals = new Approvals(
      // What is taken back is so soon.
      remoteApprover(postOver(agent, 'one'), { waitMs: 300 }),
      { timeout: 20_000 },
      new DebugLogger('test'),
    );
    const question = { ...requestOf(change), definitions: [], isGuarded: false };
    return approvals.ask(question, { signal });
  }

  /** Waits until all questions have been in their place for long enough to be answered. */
  async function settled() {
    await expect.poll(() => page.locator('article.fresh').count(), { timeout: 15_000 }).toBe(0);
  }

  async function answer(name: 'Allow' | 'Deny') {
    await settled();
    await page.getByRole('button', { name }).click();
  }

  const shownText = () => page.locator('article:not(.dead)').innerText();

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
    await answer('Allow');
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
    await settled();
    await page.getByLabel('Reason').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await asked).toEqual({ decision: 'deny', by: 'anna', source: 'person' });
  });

  it('shows look-alike letters as the terminal does, in everything that a question says', async () => {
    const TWIN = 'd\u0435ploy';
    const asked = ask({
      toolName: TWIN,
      callId: TWIN,
      hooks: [{ name: TWIN, source: TWIN, reason: TWIN }],
      input: { [TWIN]: TWIN, nested: { [TWIN]: [TWIN] } },
      originalInput: { [TWIN]: TWIN },
      sessionId: TWIN,
      workingDir: TWIN,
      agent: TWIN,
    });
    await page.getByText('1 question waits.').waitFor();
    const text = await shownText();
    expect(text).not.toContain('\u0435');
    expect(text.split('d\\u{435}ploy').length).toBeGreaterThan(11);
    await answer('Deny');
    expect(await asked).toMatchObject({ decision: 'deny' });
    expect(await page.locator('#over').innerText()).not.toContain('\u0435');
  });

  it('keeps the place of a question that is taken back: another does not come under the pointer', async () => {
    const over = new AbortController();
    const harmless = ask({ input: { command: 'ls' } }, over.signal);
    await page.getByText('1 question waits.').waitFor();
    const dangerous = ask({ input: { command: 'rm -rf /' } });
    await page.getByText('2 questions wait.').waitFor();
    await settled();
    const box = await page.getByRole('button', { name: 'Allow' }).first().boundingBox();
    const [x, y] = [(box?.x ?? 0) + 5, (box?.y ?? 0) + 5];
    await page.mouse.move(x, y);
    over.abort();
    await page.getByText('1 question waits.').waitFor();
    await settled();
    await page.mouse.click(x, y);
    // Whatever came of that has been sent before this is.
    const denied = answer('Deny').then(() => dangerous);
    expect(await Promise.race([dangerous, denied])).toMatchObject({
      decision: 'deny',
      source: 'person',
    });
    expect(await harmless).toMatchObject({ decision: 'deny', source: 'failure' });
  });

  it('takes no click on what has only just come, or come to its place', async () => {
    await page.evaluate(`new MutationObserver(([{ addedNodes }], observer) => {
      addedNodes[0].querySelector('.allow').click();
      observer.disconnect();
    }).observe(document.querySelector('#questions'), { childList: true })`);
    const asked = ask({});
    await page.getByText('Nothing was sent').waitFor();
    await settled();
    await page.evaluate(`document.querySelector('.told').textContent = '';
      document.querySelector('#questions').style.marginTop = '40px';
      document.querySelector('.allow').click()`);
    await page.getByText('Nothing was sent').waitFor();
    expect(server.board.list()).toHaveLength(1);
    await page.evaluate(`document.querySelector('#questions').style.marginTop = ''`);
    await expect.poll(() => page.locator('article.fresh').count()).toBe(1);
    await answer('Allow');
    expect(await asked).toMatchObject({ decision: 'allow', by: 'anna' });
  });

  it('has no other question under the keys, once one is taken back', async () => {
    const over = new AbortController();
    const harmless = ask({}, over.signal);
    await page.getByText('1 question waits.').waitFor();
    await settled();
    await page.getByRole('button', { name: 'Allow' }).focus();
    const dangerous = ask({});
    await page.getByText('2 questions wait.').waitFor();
    over.abort();
    await page.getByText('1 question waits.').waitFor();
    await settled();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Space');
    const denied = answer('Deny').then(() => dangerous);
    expect(await Promise.race([dangerous, denied])).toMatchObject({ decision: 'deny' });
    await harmless;
  });

  it('keeps its places where the connection is lost, and clears them when a person says so', async () => {
    const over = new AbortController();
    const first = ask({ input: { command: 'first' } }, over.signal);
    await page.getByText('1 question waits.').waitFor();
    const second = ask({ input: { command: 'second' } });
    await page.getByText('2 questions wait.').waitFor();
    const dead = page.locator('article.dead');
    const before = await dead.count();
    const place = () => page.getByText('second', { exact: true }).boundingBox();
    const there = await place();
    server.drop();
    await page.getByText('The connection was lost').waitFor();
    over.abort();
    await first;
    await page.getByText('1 question waits.').waitFor();
    expect(await dead.count()).toBe(before + 1);
    expect((await place())?.y).toBeCloseTo(there?.y ?? 0, 0);
    await page.getByRole('button', { name: 'Clear' }).click();
    expect(await dead.count()).toBe(0);
    await answer('Deny');
    expect(await second).toMatchObject({ decision: 'deny', by: 'anna' });
    // The browser itself says that the connection was lost.
    faults.length = 0;
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

  it('says that an answer waits for its agent, and that the agent is gone', async () => {
    const other = await startServer(nats, { goneMs: 5000 });
    await page.goto(`${other.origin}/approvals`);
    await page.getByLabel('Your token').fill('token-of-anna-0123456789');
    await page.keyboard.press('Enter');
    await page.getByText('No question waits.').waitFor();
    const { expiresAt: _, ...request } = requestOf();
    const times = { timeoutMs: 20_000, waitMs: 100, asksAgain: true };
    await other.board.ask({ from: 'acme/one', request, ...times });
    await page.getByText('1 question waits.').waitFor();
    await answer('Allow');
    const over = page.locator('#over');
    await over.getByText('allowed by anna: waiting for the agent').waitFor();
    // Also on a page that was loaded while it was so.
    other.drop();
    await over.getByText('allowed by anna: it does not count, the agent is gone').waitFor();
    const card = page.locator('article.dead').last();
    expect(await card.innerText()).toContain('it does not count, the agent is gone');
    await other.kill();
  });

  it('asks for a token again when the one of before was revoked', async () => {
    const other = await startServer(nats);
    // The session of before would count here, too.
    await page.context().clearCookies();
    await page.goto(`${other.origin}/approvals`);
    await page.getByLabel('Your token').fill('token-of-anna-0123456789');
    await page.keyboard.press('Enter');
    await page.getByText('No question waits.').waitFor();
    const asked = await putQuestion(other);
    await page.getByText('1 question waits.').waitFor();
    const people = peopleWithTokens(tokensOf({ ben: 'token-of-ben-0123456789' }));
    replaceApprovers(other.approvers, { people });
    await page.getByLabel('Your token').waitFor();
    expect(await page.locator('article').count()).toBe(0);
    await asked.takeBack();
    await other.kill();
  });

  it('sends somebody to the provider, and shows then what he may do', async () => {
    const provider = await startOidcProvider({ id: 'hookstack', secret: 'secret' });
    const port = await freePort();
    const file = path.join(temp.path, 'oidc.json');
    await writeFile(path.join(temp.path, 'secret'), 'secret', { mode: 0o600 });
    const said = { issuer: provider.issuer, clientId: 'hookstack', clientSecretFile: 'secret' };
    await writeFile(file, JSON.stringify(said));
    const people = await OidcPeople.read(file, `http://127.0.0.1:${port}/approvals`);
    const roles = new Roles('{"groups":{"sre":{"may":"view"}}}');
    const other = await startServer(nats, { people, roles, port });
    const asked = await putQuestion(other);
    await page.goto(`${other.origin}/approvals`);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByText('signed in as ann@example.com').waitFor();
    await page.getByText('You may look on, and not answer.').waitFor();
    expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    await asked.takeBack();
    provider.close();
    await other.kill();
  });
});
