import { chmod, copyFile, cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { globSync } from 'tinyglobby';
import { defineConfig } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
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
    await cp('src/claude-mod', path.join(dir, 'claude-mod'), { recursive: true });
    await Promise.all([client, path.join(dir, 'cli.cjs')].map((file) => chmod(file, 0o755)));
  },
};

/**
 * Packages whose code is part of the build, as they take several times as much on disk as what is used of them;
 * `jsonc-parser` cannot be bundled by hosts. Their licenses want to go wherever the code goes.
 */
const INCLUDED = {
  commander: 'LICENSE',
  picomatch: 'LICENSE',
  'escape-string-regexp': 'license',
  diff: 'LICENSE',
  'eventsource-parser': 'LICENSE',
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

/** Entry points that cannot be loaded without their host, and its package. */
const HOSTS = { adk: '@google/adk', langchain: 'langchain' };

/**
 * Node loads them through files that say what to install where the host is missing; bundlers go straight to them. All
 * lead to one module. One file for `import`, and one for `require`, which refuses what waits at its top.
 */
const hostChecks = {
  name: 'host-checks',
  async generateBundle(_options, bundle) {
    const { peerDependencies } = JSON.parse(await readFile('package.json', 'utf8'));
    for (const [name, host] of Object.entries(HOSTS)) {
      const install = `npm install "${host}@${peerDependencies[host]}"`;
      const message = `hookstack/${name} needs ${host}, which is not installed here: ${install}`;
      const code = (loading) => `let loaded;
try {
  loaded = ${loading};
} catch (cause) {
  if (!String(cause?.message).startsWith("Cannot find package '${host}'")) throw cause;
  throw Object.assign(new Error(${JSON.stringify(message)}, { cause }), { code: cause.code });
}
export const { ${bundle[`${name}.js`].exports.join(', ')} } = loaded;
`;
      const waiting = code(`await import('../${name}.js')`);
      const required = code(`createRequire(import.meta.url)('../${name}.js')`);
      this.emitFile({ type: 'asset', fileName: `hosts/${name}.js`, source: waiting });
      this.emitFile({
        type: 'asset',
        fileName: `hosts/${name}.required.js`,
        source: `import { createRequire } from 'node:module';\n${required}`,
      });
    }
  },
};

// Functions and classes keep their names, for the stacks of errors.
const COMPACT = {
  compress: true,
  mangle: { keepNames: { function: true, class: true } },
};

/**
 * Small parts that several need of what is loaded when it is needed, as each file takes a block of the disk. What every
 * command loads, and what a host of a fleet does, is without what only some commands need.
 */
const SMALL = [
  {
    name: 'command',
    test: /[\\/]cli[\\/]shared[\\/](?:eventName|interruption|limits|options|privateFolder|progress|streams|terminal|usageError)\.ts$/,
  },
  {
    name: 'edit',
    test: /[\\/](?:writeAtomically|fileLock|ownEdit|projectFile|editSettings|editJson|jsonDocument|isLookedAt)\.ts$/,
  },
  ...['fire', 'init', 'test'].map((name) => ({
    name,
    test: new RegExp(String.raw`[\\/]src[\\/]cli[\\/]${name}[\\/]`),
  })),
  { name: 'address', test: /[\\/]src[\\/]fleet[\\/]address/ },
  { name: 'fleet', test: /[\\/]src[\\/]fleet[\\/]/, minShareCount: 2 },
  { name: 'adapter', test: /[\\/]src[\\/]hosts[\\/]/, minShareCount: 2 },
];

/** Large packages, of which nobody reads the code here, in files that have nothing else. */
const packages = {
  debugName: 'packages',
  name: (id) =>
    /[\\/]node_modules[\\/](commander|diff|@inquirer|jsonc-parser|picomatch|unbash)[\\/]/
      .exec(id)?.[1]
      .replace('@', '') ?? null,
};
const isOfPackage = (file) => file.includes('node_modules');
const compactPackages = {
  name: 'compact-packages',
  generateBundle(_options, bundle) {
    for (const [name, chunk] of Object.entries(bundle)) {
      if (chunk.type !== 'chunk' || !chunk.moduleIds.every(isOfPackage)) continue;
      if (chunk.moduleIds.length === 0) continue;
      chunk.code = inLines(minifySync(name, chunk.code, { module: true, ...COMPACT }).code);
      delete bundle[`${name}.map`];
    }
  },
};

/** In characters; shorter ones are joined. */
const SHORT_LINE = 100;

/** Breaks code without white space into lines, as Node shows the line of an error that nobody caught. */
function inLines(code) {
  const ends = [];
  const visit = (node) => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (!node?.type) return;
    if (/(?:Statement|Declaration|MethodDefinition)$/u.test(node.type)) ends.push(node.end);
    Object.values(node).forEach(visit);
  };
  visit(parseAst(code, { lang: 'js' }));
  let lines = '';
  let start = 0;
  for (const end of ends.toSorted((a, b) => a - b)) {
    if (end - start < SHORT_LINE) continue;
    lines += `${code.slice(start, end)}\n`;
    start = end;
  }
  return lines + code.slice(start);
}

/** A map that takes less than a block of the disk is part of its file. */
const BLOCK = 4096;

/**
 * Leads a stack to file and line of the sources: as the code has names and lines of its own, without columns, names, and
 * the sources' text, and a map is a tenth as large.
 */
const lineMaps = {
  name: 'line-maps',
  generateBundle(_options, bundle) {
    for (const [name, asset] of Object.entries(bundle)) {
      if (!name.endsWith('.map')) continue;
      const chunk = bundle[name.slice(0, -'.map'.length)];
      const map = JSON.stringify(linesOnly(JSON.parse(asset.source)));
      if (map.length >= BLOCK) asset.source = map;
      else {
        const url = `data:application/json;base64,${Buffer.from(map).toString('base64')}`;
        chunk.code = chunk.code.replace(/(?<=\n\/\/# sourceMappingURL=).+/u, url);
        delete bundle[name];
      }
    }
  },
};

function linesOnly({ version, sources, mappings }) {
  const lines = decode(mappings).map((segments) => {
    const [, source, line] = segments.find(({ length }) => length > 1) ?? [];
    return source === undefined || isOfPackage(sources[source]) ? [[0]] : [[0, source, line, 0]];
  });
  return { version, sources, names: [], mappings: encode(lines) };
}

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
  plugins: [rawText, licenses, imports, compactPackages, lineMaps, hostChecks],
  // What comments say of exports is in the declarations, which editors read.
  output: {
    dir: 'dist',
    cleanDir: true,
    // Without a hash, which no compression makes smaller.
    chunkFileNames: 'chunks/[name].js',
    codeSplitting: { groups: [engine, packages, ...SMALL] },
    comments: false,
    sourcemap: true,
  },
});

const COMMON = {
  dir: 'dist',
  format: 'cjs',
  entryFileNames: '[name].cjs',
  codeSplitting: false,
  comments: false,
  sourcemap: true,
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
    lineMaps,
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
      const code = inLines(await readFile(file, 'utf8'))
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
  plugins: [
    {
      name: 'rules-apart',
      resolveId: (source, importer) =>
        source === './rules.js' && importer?.endsWith('load.ts')
          ? { id: './rules.cjs', external: true }
          : null,
    },
    rawText,
    compilable,
  ],
  // It is read at each event: short names. Node leads no stack of what is compiled like this to its sources.
  output: {
    ...COMMON,
    sourcemap: false,
    minify: COMPACT,
  },
});

/** What only those events load whose hooks have conditions, or are rules. */
const rules = defineConfig({
  input: { rules: 'src/rules/rules.ts' },
  platform: 'node',
  logLevel: 'warn',
  resolve: library.resolve,
  external: /^@bufbuild/u,
  plugins: [
    {
      name: 'in-lines',
      generateBundle(_options, bundle) {
        for (const chunk of Object.values(bundle)) chunk.code = inLines(chunk.code);
      },
    },
  ],
  output: { ...COMMON, sourcemap: false, minify: COMPACT },
});

/** Waits in memory beside each host: without what loads modules it takes two megabytes less. */
const spawner = defineConfig({
  input: { 'chunks/spawner': 'src/process/spawner/main.ts' },
  platform: 'node',
  logLevel: 'warn',
  external: /^signal-exit$/u,
  plugins: [lineMaps],
  output: COMMON,
});

export default [library, program, hook, rules, spawner];
