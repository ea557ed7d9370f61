// Removes the declarations that no entry point of the package leads to: tsc writes one for each file that it compiles.
// Part of `npm run build`; `npm run check:package` and test/package/consumer.mjs would miss what is needed.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../dist/types', import.meta.url));
const IMPORT = /(?:from |import |import\()["'](\.[^"']+)\.js["']/g;

const declarations = readdirSync(ROOT, { recursive: true }).filter((file) =>
  file.endsWith('.d.ts'),
);
const pending = declarations.filter(
  (file) => file.startsWith('middleware') || /^src[\\/](?:index|author)\.d\.ts$/.test(file),
);
const reached = new Set();
for (const file of pending) {
  if (reached.has(file) || !declarations.includes(file)) continue;
  reached.add(file);
  for (const [, name] of readFileSync(path.join(ROOT, file), 'utf8').matchAll(IMPORT)) {
    pending.push(path.join(path.dirname(file), `${name}.d.ts`));
  }
}
for (const file of declarations) if (!reached.has(file)) rmSync(path.join(ROOT, file));
