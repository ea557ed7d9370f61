import path from 'node:path';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const ENGINE = path.resolve(import.meta.dirname, '../../..');
const SRC = path.join(ENGINE, 'src');
/** A checkout of github.com/vercel/ai. */
const SOURCES = path.resolve(process.env['AI_SDK_SOURCES'] ?? '.');
/** See `aiSdkAround.ts`. */
const HOOKS = process.env['AI_SDK_HOOKS'];
const PACKAGES = path.join(SOURCES, 'packages');

/** What is added to files of the SDK, by what they export. */
const SLIPPED_IN: Readonly<Record<string, { readonly name: string; readonly code: string }>> = {
  // In its place, as tests look at the model that they have given.
  'test/mock-language-model-v4.ts': {
    name: 'class MockLanguageModelV4',
    code: `export const MockLanguageModelV4 = globalThis.aroundAiSdk.model(host);`,
  },
  'generate-text/generate-text.ts': {
    name: 'async function generateText',
    code: 'export const generateText = (options) => host(globalThis.aroundAiSdk.options(options));',
  },
  'generate-text/stream-text.ts': {
    name: 'function streamText',
    code: 'export const streamText = (options) => host(globalThis.aroundAiSdk.options(options));',
  },
};

const CLOCK = Object.keys({
  Date,
  performance,
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  setImmediate,
  clearImmediate,
});

/** Hooks are real processes: their deadlines do not keep to the clock that tests set. */
function withRealTime(code: string): string {
  const names = CLOCK.filter(
    (name) => !new RegExp(`^import .*\\b${name}\\b(?! as)`, 'mu').test(code),
  );
  return `const { ${names.join(', ')} } = globalThis.realTime;${code}`;
}

/** The SDK's own sources, with what `aiSdkAround.ts` puts around models and tools. Its packages are those of the checkout. */
const aiSdk: Plugin = {
  name: 'ai-sdk',
  enforce: 'pre',
  resolveId(source, importer) {
    if (!importer?.startsWith(PACKAGES) || source.startsWith('.')) return null;
    const own = /^@ai-sdk\/([\w-]+)(?:\/([\w-]+))?$/u.exec(source);
    if (!own) return this.resolve(source, import.meta.filename, { skipSelf: true });
    const [, name = '', entry = ''] = own;
    return path.join(PACKAGES, name, 'src', entry, 'index.ts');
  },
  transform(code, id) {
    if (/^(?:src|middleware)\//u.test(path.relative(ENGINE, id))) return withRealTime(code);
    const slip = SLIPPED_IN[path.relative(path.join(PACKAGES, 'ai/src'), id)];
    if (!slip) return null;
    const declaration = `export ${slip.name}`;
    if (!code.includes(declaration)) throw new Error(`${id} does not say "${declaration}"`);
    const host = slip.name.replace(/\w+$/u, 'host');
    return `${code.replace(declaration, host)}\n${slip.code}\n`;
  },
};

/** The AI SDK's own tests with the adapter slipped in, by `aiSdk.mjs`. */
export default defineConfig({
  root: path.join(PACKAGES, 'ai'),
  plugins: [aiSdk],
  define: { __PACKAGE_VERSION__: '"0.0.0-test"' },
  resolve: {
    alias: [
      { find: /^hookstack$/u, replacement: path.join(SRC, 'index.ts') },
      { find: /^hookstack\/ai$/u, replacement: path.join(SRC, 'hosts/ai.ts') },
    ],
  },
  server: { fs: { strict: false } },
  test: {
    include: [
      'src/generate-text/generate-text.test.ts',
      'src/agent/tool-loop-agent.test.ts',
      // It measures how long all takes.
      ...(HOOKS === 'silent' ? [] : ['src/generate-text/stream-text.test.ts']),
    ],
    setupFiles: [path.join(import.meta.dirname, 'aiSdkAround.ts')],
    maxWorkers: '100%',
  },
});
