// Makes dist/types what hosts can use, as part of `npm run build`, of what tsc declares file by file: one file for each
// entry point of the package, with only what it leads to, and one for what they share. They lead to sdk.d.ts instead of
// to the SDK, which not every host has. `npm run check:package` and test/package/consumer.mjs would miss what is needed.
import { copyFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { globSync } from 'tinyglobby';

const fromRoot = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const DECLARED = fromRoot('dist/declared');
const TYPES = fromRoot('dist/types');
const ENTRIES = [
  'src/{index,author,fleet}.d.ts',
  'src/hosts/{adk,ai,claude,langchain,openai}.d.ts',
  'middleware/*.d.ts',
];

const toSdk = {
  name: 'to-sdk',
  renderChunk: (code, { fileName }) =>
    code.replaceAll(
      /(["'])@google\/genai\1/g,
      `"${path.posix.dirname(fileName).replace(/[^./]+/gu, '..')}/sdk.js"`,
    ),
};

const entries = globSync(ENTRIES, { cwd: DECLARED });
const build = await rolldown({
  input: Object.fromEntries(
    entries.map((file) => [
      file.replaceAll(/^src\/(?:hosts\/)?|\.d\.ts$/gu, ''),
      path.join(DECLARED, file),
    ]),
  ),
  external: /^[a-z@]/u,
  logLevel: 'warn',
  plugins: [dts({ dtsInput: true, tsconfig: false }), toSdk],
});
await build.write({
  dir: TYPES,
  cleanDir: true,
  chunkFileNames: '[name].d.ts',
  codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] },
  minifyInternalExports: false,
});
copyFileSync(fromRoot('src/sdk.d.ts'), path.join(TYPES, 'sdk.d.ts'));
rmSync(DECLARED, { recursive: true });
