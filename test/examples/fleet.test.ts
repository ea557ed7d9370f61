import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { useTempDir } from '../helpers/tempDir.js';
import { chromiumPath, launchChromium } from '../trace/browser.mjs';

const START = path.resolve(import.meta.dirname, '../../examples/fleet/start.sh');
const directory = useTempDir();

it.skipIf(!chromiumPath)(
  'a fleet of three servers and two agents: a central deny, a yes on the page, one trace',
  { timeout: 90_000 },
  async () => {
    const child = spawn('bash', [START, directory.path], {
      env: { ...process.env, FLEET_PORT: String(await freePort()) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
    }
    const ended = once(child, 'exit');
    try {
      const [, page = '', token = ''] = await vi.waitFor(
        () => {
          const found = /^page: (\S+)\nsign in with: (\S+)$/m.exec(said);
          if (!found) throw new Error(`no page yet:\n${said}`);
          return found;
        },
        { timeout: 60_000 },
      );
      await allow(page, token);
      const [code] = (await ended) as [number];
      expect(said).toContain(
        'one: blocked: write_file by central-policy: Production is frozen until Monday, for acme/one too.',
      );
      expect(code).toBe(0);
    } finally {
      child.kill();
      await ended;
    }
    const written = await readFile(path.join(directory.path, 'two/deploy/prices.yaml'), 'utf8');
    expect(written).toBe('tea: 450\n');
    await expect(readFile(path.join(directory.path, 'one/production/prices.yaml'))).rejects.toThrow(
      'ENOENT',
    );
    const [, record = ''] = said.split('record:\n');
    const parts = ['acme/one', 'acme/two', /policy\/policy-\d/, 'central-policy', 'fleet-policy'];
    for (const part of parts) expect(record).toMatch(part);
    // It has ended, and not only the shell around it.
    const collected = await readFile(path.join(directory.path, 'log/collect'), 'utf8');
    expect(collected).toMatch(/^Wrote \d+ spans/mu);
    const [day = ''] = await readdir(path.join(directory.path, 'record'));
    const spans = await readFile(path.join(directory.path, 'record', day), 'utf8');
    expect(spans).toContain(String.raw`\"by\": \"boss\"`);
  },
);

/** Answers as a person would. */
async function allow(address: string, token: string): Promise<void> {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(address);
    await page.getByLabel('Your token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('acme/two wants to deploy deploy/prices.yaml.').waitFor();
    // A question that has only just come takes no click.
    await expect.poll(() => page.locator('article.fresh').count(), { timeout: 15_000 }).toBe(0);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('allowed by boss').waitFor();
  } finally {
    await browser.close();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
