import { chmod, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';

const cli = new Cli();

const FILE = '.llxprt/hooks/guard.sh';
const OLD = 'one\ntwo\nthree\nfour\nfive\ntouch ran\n';
const NEW = 'one\ntwo\nthree\nfour\nfive\ntouch other\n';
const DIFF = `--- ${FILE} as it was allowed
+++ ${FILE} as it is now
@@
 three
 four
 five
-touch ran
+touch other
`;
const folder = () => join(cli.home, '.llxprt/trusted-texts');
const kept = () => readdir(folder());

beforeEach(async () => {
  await cli.write(FILE, OLD);
  await cli.projectSettings({ BeforeTool: group(`sh ${FILE}`, { name: 'guard' }) });
  await cli.run(['trust', '--yes']);
});

describe('trust shows of a changed script', () => {
  it('the difference to what was allowed, on a terminal, and allows the new one', async () => {
    await cli.write(FILE, NEW);
    const { exitCode, shown } = await cli.onTerminal('trust', 'y\n');
    expect(exitCode).toBe(0);
    expect(shown).toContain(DIFF);
    expect(shown).not.toContain('| one');
    expect(await kept()).toHaveLength(1);
  });

  it.each([['trust'], ['trust', '--check']])(
    'the same without a terminal: %s %s',
    async (...args) => {
      await cli.write(FILE, NEW);
      const { exitCode, stdout } = await cli.run(args);
      expect(exitCode).toBe(1);
      expect(`${stdout}\n`).toContain(DIFF);
    },
  );

  it('that of a file beside it as well', async () => {
    await cli.write('.llxprt/hooks/lib.sh', 'a\n');
    await cli.run(['trust', '--yes']);
    await cli.write('.llxprt/hooks/lib.sh', 'b\n');
    const { shown } = await cli.onTerminal('trust', 'n\n');
    expect(shown).toContain('+++ .llxprt/hooks/lib.sh as it is now\n@@\n-a\n+b\n');
    expect(shown).toContain('--- .llxprt/hooks/guard.sh\n  | one\n');
  });

  it('once, where several hooks share the file', async () => {
    await cli.write('.llxprt/hooks/other.sh', 'true\n');
    const guard = group(`sh ${FILE}`, { name: 'guard' });
    const other = group('sh .llxprt/hooks/other.sh', { name: 'other', matcher: 'x' });
    await cli.projectSettings({ BeforeTool: [...guard, ...other] });
    await cli.run(['trust', '--yes']);
    await cli.write(FILE, NEW);

    const { stdout } = await cli.run(['trust', '--check']);
    expect(`${stdout}\n`.split(DIFF)).toHaveLength(2);
    const { shown } = await cli.onTerminal('trust', 'n\n', 'n\n');
    expect(shown.split(DIFF)).toHaveLength(2);
    expect(shown).toContain(`${FILE}: shown above`);
    const { stderr } = await cli.run(['list']);
    expect(stderr).toContain(
      `The hooks "guard", "other" are skipped; to see and allow them, run in the project: hookstack trust. Each of them has changed since it was allowed (${FILE})`,
    );
    expect(stderr.match(/has changed/gu)).toHaveLength(1);
  });

  it('all of it where no copy is kept, or somebody has changed that, and says so', async () => {
    const [name = ''] = await kept();
    await cli.write(FILE, NEW);
    const whole = `${FILE}: no copy of what was allowed is kept; the whole file is shown\n--- ${FILE}\n  | one\n`;
    await writeFile(join(folder(), name), 'forged');
    expect((await cli.run(['trust'])).stdout).toContain(whole);
    await rm(folder(), { recursive: true });
    expect((await cli.run(['trust'])).stdout).toContain(whole);
  });

  it('that its mode is another, where its bytes are the same', async () => {
    await chmod(join(cli.project, FILE), 0o755);
    const { stdout } = await cli.run(['trust', '--check']);
    expect(stdout).toMatch(/^ {2}~ \.llxprt\/hooks\/guard\.sh {2}sha256:\w{12} 755$/mu);
    expect(stdout).toContain(
      `${FILE} has the same bytes; its mode, or where a link leads, has changed`,
    );
    expect(stdout).not.toContain('| one');
  });

  it('what a terminal would obey with escapes', async () => {
    await cli.write(FILE, `${OLD}echo \u001B[2Jx\u202E\n`);
    const { stdout } = await cli.run(['trust']);
    expect(stdout).toContain(String.raw`+echo \x1b[2Jx\u202e`);
  });

  it('letters without a shape with escapes, as code can be written in them', async () => {
    await cli.write(FILE, `${OLD}eval "$(decode '\uFE00\u{E0101}\u3164\u2800')"\n`);
    const { stdout } = await cli.run(['trust']);
    expect(stdout).toContain(String.raw`+eval "$(decode '\ufe00\u{e0101}\u3164\u2800')"`);
  });

  it('bytes that are no text, where the text for them was allowed', async () => {
    await cli.write(FILE, 'rm -r "\uFFFD"\n');
    await cli.run(['trust', '--yes']);
    await writeFile(join(cli.project, FILE), Buffer.from('rm -r "\u00FF"\n', 'latin1'));
    const { stdout } = await cli.run(['trust']);
    expect(stdout).toContain('is no text in UTF-8; its bytes are shown as those of Latin-1');
    expect(stdout).toContain('  | rm -r "\u00FF"');
  });
});

describe('a copy of what was allowed', () => {
  it('is for the user alone, and is gone with untrust', async () => {
    const [name = ''] = await kept();
    const modes = await Promise.all([folder(), join(folder(), name)].map((path) => stat(path)));
    expect(modes.map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o600]);
    await cli.run(['untrust']);
    expect(await kept()).toEqual([]);
  });

  it('stays while a consent names it, and goes with the last one', async () => {
    const before = await kept();
    await cli.write(FILE, NEW);
    await cli.onTerminal('trust', 'n\n');
    expect(await kept()).toEqual(before);
    await cli.run(['trust', '--yes']);
    expect(await kept()).toHaveLength(1);
    expect(await kept()).not.toEqual(before);
  });

  it.each([
    ['is too long', 'x'.repeat(64 * 1024 + 1)],
    ['is no text', 'a\0b'],
  ])('is not kept of a file that %s', async (_, content) => {
    await cli.write(FILE, content);
    expect(await cli.run(['trust', '--yes'])).toMatchObject({ exitCode: 0 });
    expect(await kept()).toEqual([]);
  });
});
