// Makes dist/types what hosts can use, as part of `npm run build`: leads declarations to src/sdk.d.ts instead of to the
// SDK, which not every host has, takes comments from what only other declarations name, and removes those that no entry
// point of the package leads to, as tsc writes one for each file that it compiles. `npm run check:package` and
// test/package/consumer.mjs would miss what is needed.
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../dist/types', import.meta.url));
const SDK = fileURLToPath(new URL('../../src/sdk.d.ts', import.meta.url));
const IMPORT = /(?:from |import |import\()["'](\.[^"']+)\.js["']/g;

/** What no entry point exports, and only other declarations name: nobody reads what comments say of it. */
const INNER =
  /^src[\\/](?:(?:process|run)[\\/]|util[\\/](?:checks|jsonDocument)|hooks[\\/]fireHook|agent[\\/]recordedCalls)/;
const COMMENT = /^\s*\/\*\*[^]*?\*\/\n/gm;

const declarations = readdirSync(ROOT, { recursive: true }).filter((file) =>
  file.endsWith('.d.ts'),
);
for (const file of declarations) {
  const whole = readFileSync(path.join(ROOT, file), 'utf8');
  const text = INNER.test(file) ? whole.replaceAll(COMMENT, '') : whole;
  const toSdk = path.posix.relative(path.posix.dirname(file), 'src/sdk.js');
  const specifier = toSdk.startsWith('.') ? toSdk : `./${toSdk}`;
  writeFileSync(
    path.join(ROOT, file),
    text.replaceAll(/(["'])@google\/genai\1/g, `'${specifier}'`),
  );
}
copyFileSync(SDK, path.join(ROOT, 'src/sdk.d.ts'));

const pending = declarations.filter(
  (file) =>
    file.startsWith('middleware') ||
    /^src[\\/](?:index|author|fleet|hosts[\\/](?!shared)\w+)\.d\.ts$/.test(file),
);
const reached = new Set(['src/sdk.d.ts']);
for (const file of pending) {
  if (reached.has(file) || !declarations.includes(file)) continue;
  reached.add(file);
  for (const [, name] of readFileSync(path.join(ROOT, file), 'utf8').matchAll(IMPORT)) {
    pending.push(path.join(path.dirname(file), `${name}.d.ts`));
  }
}
for (const file of declarations) if (!reached.has(file)) rmSync(path.join(ROOT, file));
