import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findDocuments, findSnippets, readDocument } from '../docs/markdown.js';
import { Workbench } from '../docs/workbench.js';
import { toPatternSource } from '../helpers/matchText.js';

const documents = await Promise.all(
  (await findDocuments()).map(async (file) => ({
    file,
    snippets: findSnippets(await readDocument(file)).filter(
      ({ words }) => words[0]?.name === 'host',
    ),
  })),
);

// They import what was built.
describe.each(documents.filter(({ snippets }) => snippets.length > 0))(
  'the programs of $file',
  ({ snippets }) => {
    let bench: Workbench;

    beforeAll(async () => {
      bench = await Workbench.create();
      await bench.link(path.join(import.meta.dirname, 'node_modules'));
    });

    afterAll(() => bench.remove());

    it.each(snippets)('line $line', async ({ words, content }) => {
      for (const { name, value } of words) {
        if (name === 'file') await bench.write(value, content);
        if (name === 'run') {
          const file = await bench.write('program.mjs', content);
          // Where it is linked is where it is installed: adapters find their hosts beside it.
          const { exitCode } = await bench.run(process.execPath, ['--preserve-symlinks', file]);
          expect(exitCode, bench.output).toBe(0);
        }
        if (name === 'output') {
          const pattern = `^${toPatternSource(content.trimEnd(), '.*')}$`;
          expect(bench.output).toMatch(new RegExp(pattern, 'm'));
        }
      }
    });
  },
);
