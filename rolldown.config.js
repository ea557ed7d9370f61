import { chmod, copyFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { defineConfig } from 'rolldown';
import { minifySync } from 'rolldown/utils';

/** `import text from './file?raw'` is the file's text, as it is for vitest; of a script without what nobody runs. */
const rawText = {
  name: 'raw-text',
  resolveId(source, importer) {
    return source.endsWith('?raw') ? path.resolve(path.dirname(importer), source) : null;
  },
  async load(id) {
    if (!id.endsWith('?raw')) return null;
    const file = id.slice(0, -'?raw'.length);
    const source = await readFile(file, 'utf8');
    const text = file.endsWith('.js') ? minifySync(file, source).code : source;
    return { code: `export default ${JSON.stringify(text)};`, moduleType: 'js' };
  },
};

/** `npm link` makes the program executable once, and a build writes it anew. */
const executable = {
  name: 'executable',
  async writeBundle({ dir }) {
    const client = path.join(dir, 'hookstack-hook.sh');
    await copyFile('src/cli/resident/client.sh', client);
    await Promise.all([client, path.join(dir, 'cli.cjs')].map((file) => chmod(file, 0o755)));
  },
};

/**
 * Packages whose code is part of the build: `diff` takes a megabyte on disk, and one function of it is used; `unbash`
 * takes four times as much as what is used of it;
 * `jsonc-parser` cannot be bundled by hosts; the packages of the prompt are many small ones. Their licenses want to go wherever the code goes.
 */
const INCLUDED = {
  diff: 'LICENSE',
  'jsonc-parser': 'LICENSE.md',
  unbash: 'LICENSE',
  '@inquirer/expand': 'LICENSE',
  '@inquirer/input': 'LICENSE',
  '@inquirer/core': 'LICENSE',
  '@inquirer/ansi': 'LICENSE',
  '@inquirer/figures': 'LICENSE',
  '@inquirer/type': 'LICENSE',
  'mute-stream': 'LICENSE',
  'cli-width': 'LICENSE',
  'fast-wrap-ansi': 'LICENSE',
  'fast-string-width': 'license',
  'fast-string-truncated-width': 'license',
};
const licenses = {
  name: 'licenses',
  async writeBundle({ dir }) {
    const texts = Object.entries(INCLUDED).map(async ([name, file]) => {
      const text = await readFile(`node_modules/${name}/${file}`, 'utf8');
      return `Part of this package is ${name}, under this license:\n\n${text.trim()}\n`;
    });
    await writeFile(path.join(dir, 'LICENSES'), (await Promise.all(texts)).join('\n\n'));
  },
};

const imported = new Map();
const imports = {
  name: 'imports',
  buildEnd() {
    for (const id of this.getModuleIds()) imported.set(id, this.getModuleInfo(id).importedIds);
  },
};

/** What is loaded with a file, and not only when it is needed. */
function loadedWith(file) {
  const found = new Set([path.resolve(file)]);
  for (const id of found) for (const next of imported.get(id) ?? []) found.add(next);
  return found;
}

/** What a host loads at once is one file. A hook's script that imports the author's part does not load it. */
const engine = {
  debugName: 'engine',
  name(id) {
    const [host, author] = ['src/index.ts', 'src/author.ts'].map((file) =>
      loadedWith(file).has(id),
    );
    return host && !author ? 'engine' : null;
  },
};

// Less to download; functions and classes keep their names, for the stacks of errors.
const MINIFY = {
  compress: true,
  mangle: { keepNames: { function: true, class: true } },
  codegen: { removeWhitespace: true },
};

// Few files instead of hundreds: Node takes a third of the time to load them. What is loaded only when it is needed
// stays in files of its own, and so do the dependencies.
const library = defineConfig({
  input: {
    index: 'src/index.ts',
    author: 'src/author.ts',
    fleet: 'src/fleet.ts',
    program: 'src/cli/program.ts',
    adk: 'src/hosts/adk.ts',
    ai: 'src/hosts/ai.ts',
    claude: 'src/hosts/claude.ts',
    openai: 'src/hosts/openai.ts',
    langchain: 'src/hosts/langchain.ts',
    ...Object.fromEntries(
      globSync('middleware/*.ts').map((file) => [file.replace(/\.ts$/u, ''), file]),
    ),
  },
  platform: 'node',
  logLevel: 'warn',
  external: new RegExp(`^(?!(?:${Object.keys(INCLUDED).join('|')})(?:/|$))[a-z@]`, 'u'),
  // Of packages that have both, the modules: bundlers of hosts cannot follow what the other form requires.
  resolve: { mainFields: ['module', 'main'] },
  plugins: [rawText, licenses, imports],
  // What comments say of exports is in the declarations, which editors read.
  output: {
    dir: 'dist',
    cleanDir: true,
    // Without a hash, which no compression makes smaller.
    chunkFileNames: 'chunks/[name].js',
    codeSplitting: { groups: [engine] },
    comments: false,
    minify: MINIFY,
  },
});

const COMMON = {
  dir: 'dist',
  format: 'cjs',
  entryFileNames: '[name].cjs',
  codeSplitting: false,
  comments: false,
  minify: MINIFY,
};

const program = defineConfig({
  input: { cli: 'src/cli/main.ts' },
  platform: 'node',
  logLevel: 'warn',
  plugins: [
    {
      name: 'other-build',
      resolveId: (source) =>
        source.endsWith('/program.js') ? { id: './program.js', external: true } : null,
    },
    executable,
  ],
  output: COMMON,
});

/**
 * Makes a function of a file in CommonJS, as Node does when it loads one; see src/cli/hook/compiled.ts. V8 reads a text with
 * other characters than those of ASCII in twice the time; none of ours is written where an escape means something else.
 */
const compilable = {
  name: 'compilable',
  async writeBundle({ dir }, bundle) {
    for (const name of Object.keys(bundle)) {
      const file = path.join(dir, name);
      const code = (await readFile(file, 'utf8'))
        .replace(/[^\0-\u007f]/g, escapeUnit)
        // What is compiled like this cannot import by itself.
        .replace(/\bimport\(/g, '__import(');
      await writeFile(file, `(function(exports,require,__filename,__import){${code}\n})`);
    }
  },
};

/** @param unit of UTF-16 */
function escapeUnit(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * An agent waits for `hookstack hook` at each event. So all that answers one is a file of its own, in the form that Node
 * loads quickest, and whose compiled code can be kept.
 */
const hook = defineConfig({
  input: { hook: 'src/cli/hook/runHooks.ts' },
  platform: 'node',
  logLevel: 'warn',
  resolve: library.resolve,
  transform: { define: { IS_OWN_PROCESS: 'true' } },
  plugins: [rawText, compilable],
  output: COMMON,
});

/** Waits in memory beside each host: without what loads modules it takes two megabytes less. */
const spawner = defineConfig({
  input: { 'chunks/spawner': 'src/process/spawner/main.ts' },
  platform: 'node',
  logLevel: 'warn',
  external: /^signal-exit$/u,
  output: COMMON,
});

export default [library, program, hook, spawner];
