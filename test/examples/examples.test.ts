import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { execa, execaSync } from 'execa';
import { describe, expect, it } from 'vitest';
import { loadSettingsFile } from '../../src/config/settings/settings.js';
import { EXAMPLES, expectOutcome, tryExample } from './scenario.js';

const examples = readdirSync(EXAMPLES).filter((name) =>
  existsSync(path.join(EXAMPLES, name, 'scenario.json')),
);

const missing = ['git', 'jq', 'python3'].filter(
  (program) => execaSync(program, ['--version'], { reject: false }).failed,
);

describe.each(examples)('the example %s', (name) => {
  it.skipIf(missing.length > 0)('does what its scenario says', { timeout: 60_000 }, async () => {
    expectOutcome(await tryExample(name), name);
  });

  it.skipIf(missing.length > 0)('answers its recorded events as expected', async () => {
    const script = path.join(EXAMPLES, 'try.mjs');
    const { all } = await execa(process.execPath, [script, name, '--test'], {
      all: true,
      reject: false,
    });

    expect(all).toMatch(/^[1-9]\d* passed, 0 failed$/m);
  });

  it('has settings in which nothing is wrong, and every hook a name, a purpose and a time limit', async () => {
    const { settings, problems } = await loadSettingsFile(
      path.join(EXAMPLES, name, 'settings.json'),
    );

    expect(problems).toEqual([]);
    const hooks = Object.values(settings.hooks).flatMap((groups) =>
      groups.flatMap((group) => group.hooks),
    );
    for (const hook of hooks) {
      expect(hook).toMatchObject({
        name: expect.any(String) as string,
        description: expect.any(String) as string,
        timeout: expect.any(Number) as number,
      });
    }
  });

  it('says how to try it', () => {
    expect(read(name, 'README.md')).toContain(`\nnode examples/try.mjs ${name}\n`);
  });
});

describe('try.mjs', () => {
  const script = path.join(EXAMPLES, 'try.mjs');

  it('shows a reader what happens', async () => {
    const { all } = await execa(process.execPath, [script, 'policy-service'], { all: true });

    expect(all).toContain('The user says: Write the new prices.');
    expect(all).toContain(
      'blocked: write_file by ask-policy: Changes of production need a ticket.',
    );
    expect(all).toContain('The service was sent: write_file prod/prices.yaml: deny');
    expect(all).toContain('?? test/prices.yaml');
  });

  it('shows what a person is asked, and what he says', async () => {
    const { all } = await execa(process.execPath, [script, 'ask-before-deploy'], {
      all: true,
      input: '',
    });

    expect(all).toMatch(/^A person is asked: This deploys commit .* production prices\.yaml"\}$/m);
    expect(all).toContain('\nAda says: allow\n');
    expect(all).toContain('\nAda says: Not on a Friday. Wait until Monday.\n');
    expect(all).toContain('?? deployed/production/prices.yaml');
  });

  it.each([[[]], [['nothing-of-the-kind']], [['auto-test', 'auto-format']]])(
    'names the examples when it is called with %j',
    async (args) => {
      const { exitCode, stderr } = await execa(process.execPath, [script, ...args], {
        reject: false,
      });

      expect({ exitCode, stderr }).toEqual({
        exitCode: 2,
        stderr: `Name one of the examples: ${examples.join(', ')}`,
      });
    },
  );
});

describe('the list of examples', () => {
  it('has every example', () => {
    const listed = Array.from(read('README.md').matchAll(/^\| \[([\w-]+)\]/gm), ([, name]) => name);
    expect(listed).toEqual(expect.arrayContaining(examples));
  });
});

function read(...segments: string[]): string {
  return readFileSync(path.join(EXAMPLES, ...segments), 'utf8');
}
