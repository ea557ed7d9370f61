import { existsSync } from 'node:fs';

/** Path of the Chromium to test with: what `CHROMIUM` says, else where Linux puts one; `undefined` without any. */
export const chromiumPath = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((file) => file && existsSync(file));

/** Starts Chromium. Its sandbox does not work for root, who runs the tests in a container. */
export async function launchChromium() {
  const { chromium } = await import('playwright-core');
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: chromiumPath, args });
}
