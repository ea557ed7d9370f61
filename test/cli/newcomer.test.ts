import { existsSync } from 'node:fs';
import { access, mkdir, readdir, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { answer, Cli, group, toolCall } from './helpers.js';

const cli = new Cli();

const writeEnv = ['--tool', 'write_file', '--input', '{"file_path": "sub/.env"}'];
const writeOther = ['--tool', 'write_file', '--input', '{"file_path": "env"}'];

describe('a newcomer', () => {
  it.each(['bash', 'node', 'python'])(
    'has a first working hook in %s after one command',
    async (language) => {
      const made = await cli.run(['init', '--language', language]);
      expect(made).toMatchObject({ exitCode: 0, stderr: '' });

      const blocked = await cli.run(['fire', 'BeforeTool', ...writeEnv, '--trust']);
      expect(blocked).toMatchObject({ exitCode: 2, stderr: '' });
      expect(blocked.stdout).toContain('Verdict: blocked: Files named .env hold secrets');
      const allowed = await cli.run(['fire', 'BeforeTool', ...writeOther, '--trust']);
      expect(allowed).toMatchObject({ exitCode: 0 });

      expect(await cli.run(['test', '--trust'])).toMatchObject({ exitCode: 0 });
      expect(await cli.run(['doctor', '--trust'])).toMatchObject({ exitCode: 0 });
    },
  );

  it('has settings that editors complete without a network, where the package is installed in the project', async () => {
    const schemaOf = async () => {
      expect(await cli.run(['init'])).toMatchObject({ exitCode: 0 });
      const text = await cli.read('.llxprt/settings.json');
      await rm(join(cli.project, '.llxprt'), { recursive: true });
      return (JSON.parse(text) as { $schema: unknown }).$schema;
    };
    expect(await schemaOf()).toBeUndefined();
    await cli.write('node_modules/hookstack/schema/settings.json', {});
    expect(await schemaOf()).toBe('../node_modules/hookstack/schema/settings.json');
  });

  it('keeps the beginning of settings that are there', async () => {
    await cli.write('.llxprt/settings.json', '// Ours.\n{ "enableHooks": true }\n');
    expect(await cli.run(['init'])).toMatchObject({ exitCode: 0 });
    expect(await cli.read('.llxprt/settings.json')).not.toContain('$schema');
  });

  it('can run the commands that init prints', async () => {
    const { stdout } = await cli.run(['init', '--json']);
    const { next } = JSON.parse(stdout) as { next: string[] };
    expect(next).toHaveLength(3);
    const codes = [];
    for (const command of next) {
      const words = Array.from(command.matchAll(/'([^']*)'|(\S+)/gu), ([, quoted, bare]) =>
        String(quoted ?? bare),
      );
      const { exitCode } = await cli.run(words.slice(1));
      codes.push(exitCode);
    }
    // All as expected, blocked, explained.
    expect(codes).toEqual([0, 2, 0]);
  });

  it('finds out with one command why a hook does not fire', async () => {
    await cli.run(['init']);
    await cli.run(['untrust']);
    const untrusted = await cli.run(['explain', 'BeforeTool', '--tool', 'write_file']);
    expect(untrusted.stdout).toContain('protect-env: untrusted');
    const unmatched = await cli.run(['explain', 'BeforeTool', '--tool', 'read_file', '--trust']);
    expect(unmatched.stdout).toContain(
      'protect-env: its matcher "^(write_file|replace)$" does not match read_file',
    );
  });

  it('replays a blocked call of a session with the command that its trace names', async () => {
    const settings = await cli.settings({
      BeforeTool: group('grep -q secret && exit 2; true', { name: 'guard' }),
    });
    const calls = await cli.record(
      answer(toolCall('write_file', { file_path: 'a.txt', content: 'a secret' })),
      answer(toolCall('write_file', { file_path: 'b.txt', content: 'fine' })),
      answer('Done.'),
    );
    const given = ['--settings', settings, '--responses', calls, '--trace', 'trace.jsonl'];
    expect((await cli.run(['run', 'Write.', ...given])).exitCode).toBe(0);

    const { stdout } = await cli.run(['trace', 'trace.jsonl']);
    const command = stdout.match(
      /\nReplay: hookstack (fire --from-trace trace\.jsonl --span \w+)$/,
    );
    const words = command?.[1]?.split(' ') ?? [];
    const keep = ['--record', 'blocked.hooktest.json', '--settings', settings];
    const replayed = await cli.run([...words, ...keep]);
    expect(replayed).toMatchObject({ exitCode: 2, stderr: 'recorded: blocked.hooktest.json' });
    expect(replayed.stdout).toContain('guard: exit code 2');
    expect(JSON.parse(await cli.read('blocked.hooktest.json'))).toMatchObject({
      event: 'BeforeTool',
      input: { tool_name: 'write_file', tool_input: { file_path: 'a.txt', content: 'a secret' } },
    });
  });

  it('keeps a blocked call as a test with one command', async () => {
    const settings = await cli.settings({ BeforeTool: group('grep -q secret && exit 2; true') });
    const args = ['--tool', 'write_file', '--input', '{"content": "secret"}'];
    const record = ['--record', 'blocked.hooktest.json', '--settings', settings];
    expect(await cli.run(['fire', 'BeforeTool', ...args, ...record])).toMatchObject({
      exitCode: 2,
      stderr: 'recorded: blocked.hooktest.json',
    });
    const replay = ['test', 'blocked.hooktest.json', '--settings', settings];
    expect(await cli.run(replay)).toMatchObject({ exitCode: 0 });

    await cli.settings({ BeforeTool: group('true') });
    const changed = await cli.run(replay);
    expect(changed.exitCode).toBe(1);
    expect(changed.stdout).toContain('- expected "block"\n    + actual   "allow"');
  });
});

describe('init', () => {
  it.each(['bash', 'node', 'python'])(
    'writes hooks in %s of any event, whose tests pass',
    async (language) => {
      const events = ['SessionStart', 'AfterTool', 'BeforeModel', 'AfterAgent', 'BeforeAgent'];
      for (const event of events) await cli.run(['init', '--language', language, '--event', event]);
      const { exitCode, stdout } = await cli.run(['test', '--trust']);
      expect(stdout).toContain('5 passed, 0 failed');
      expect(exitCode).toBe(0);
    },
  );

  it('adds to settings that are there, and keeps comments, order and indentation', async () => {
    await cli.write(
      '.llxprt/settings.json',
      `{
    // Keep me.
    "enableHooks": false,
    "hooks": {
        "BeforeTool": [
            {
                "hooks": [{ "type": "command", "command": "mine" }] // And me.
            }
        ]
    }
}
`,
    );
    expect(await cli.run(['init', '--language', 'bash'])).toMatchObject({ exitCode: 0 });
    expect(await cli.read('.llxprt/settings.json')).toBe(`{
    // Keep me.
    "enableHooks": true,
    "hooks": {
        "BeforeTool": [
            {
                "hooks": [{ "type": "command", "command": "mine" }] // And me.
            },
            {
                "matcher": "^(write_file|replace)$",
                "hooks": [
                    {
                        "type": "command",
                        "name": "protect-env",
                        "command": "$LLXPRT_PROJECT_DIR/.llxprt/hooks/protect-env.sh",
                        "timeout": 10000,
                        "onFailure": "deny"
                    }
                ]
            }
        ]
    }
}
`);
    const { mode } = await stat(join(cli.project, '.llxprt/hooks/protect-env.sh'));
    expect(mode & 0o111).toBe(0o111);
  });

  it.each(['BeforeTool', 'BeforeAgent', 'BeforeModel'])(
    'writes a guard of %s that blocks when it cannot run',
    async (event) => {
      await cli.run(['init', '--event', event, '--language', 'bash']);
      const script = (await readdir(join(cli.project, '.llxprt/hooks'))).find((file) =>
        file.endsWith('.sh'),
      );
      await cli.write(`.llxprt/hooks/${script}`, 'exit 1\n');
      expect(await cli.run(['fire', event, '--trust'])).toMatchObject({ exitCode: 2 });
    },
  );

  it('writes a hook in bash that needs neither jq nor anything else but cat', async () => {
    const PATH = join(cli.home, 'bin');
    await mkdir(PATH);
    for (const program of ['bash', 'cat', 'env']) {
      const found = (process.env['PATH'] ?? '').split(':').map((folder) => join(folder, program));
      await symlink(String(found.find((file) => existsSync(file))), join(PATH, program));
    }
    const env = { PATH };
    for (const event of ['BeforeTool', 'AfterTool', 'BeforeModel', 'BeforeAgent', 'AfterAgent']) {
      const made = await cli.run(['init', '--language', 'bash', '--event', event], { env });
      expect(made).toMatchObject({ exitCode: 0, stderr: '' });
    }
    const { stdout } = await cli.run(['test', '--trust'], { env });
    expect(stdout).toContain('5 passed, 0 failed');
  });

  it.each([
    { file_path: 'a/.env', blocks: true },
    { file_path: 'a "quoted\\" one/.env', blocks: true },
    { file_path: '.env', content: 'x"\\\n'.repeat(500_000), blocks: true },
    { file_path: 'env', content: '"file_path":".env"', blocks: false },
    { file_path: '.env.md', content: '.env', blocks: false },
    { file_path: 'a.env', blocks: false },
  ])('writes a guard in bash that reads JSON right: $file_path', async ({ blocks, ...input }) => {
    await cli.run(['init', '--language', 'bash']);
    await cli.write('input.json', input);
    const given = ['--tool', 'write_file', '--input', '@input.json', '--trust'];
    expect(await cli.run(['fire', 'BeforeTool', ...given])).toMatchObject({
      exitCode: blocks ? 2 : 0,
    });
  });

  it('writes further hooks of an event, by other names', async () => {
    await cli.run(['init']);
    const { stderr, exitCode } = await cli.run(['init']);
    expect({ stderr, exitCode }).toEqual({
      stderr: expect.stringContaining('choose another --name'),
      exitCode: 2,
    });
    expect(await cli.run(['init', '--name', 'second'])).toMatchObject({ exitCode: 0 });
    const shell = ['--name', 'third.one', '--matcher', '^run_shell', '--language', 'python'];
    const { stdout } = await cli.run(['init', ...shell]);
    expect(stdout).toContain('--tool run_shell_command --input');
    expect((await cli.run(['test', '--trust'])).stdout).toContain('3 passed, 0 failed');
    const settings = await cli.read('.llxprt/settings.json');
    expect(JSON.parse(settings)).toMatchObject({
      hooks: {
        BeforeTool: [
          { hooks: [{ name: 'protect-env' }] },
          { hooks: [{ name: 'second' }] },
          { matcher: '^run_shell', hooks: [{ name: 'third.one' }] },
        ],
      },
    });
  });

  it.each([
    ['BeforeTool', 'mcp__db__drop'],
    ['AfterTool', '^(read_file|glob)$'],
    ['BeforeTool', '^mcp__.*__delete$'],
    ['BeforeTool', '*'],
  ])('writes a test of %s that its matcher %s fits', async (event, matcher) => {
    const made = await cli.run(['init', '--event', event, '--matcher', matcher]);
    expect(made).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await cli.run(['test', '--trust'])).toMatchObject({ exitCode: 0 });
  });

  it.each([
    [['--name', '../x'], '--name ../x cannot be used'],
    [['--name', '$(x)'], 'cannot be used'],
    [['--matcher', '('], '--matcher ( cannot be used'],
    [['--matcher', '^[^\\w-]+$'], 'fits no tool'],
    [['--matcher', 'x', '--event', 'BeforeModel'], '--matcher has no effect at BeforeModel'],
  ])('refuses %j', async (args, says) => {
    const { exitCode, stderr } = await cli.run(['init', ...args]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(says) });
    await expect(cli.read('.llxprt/settings.json')).rejects.toThrow('ENOENT');
  });

  it.each([
    {
      what: 'a script',
      file: '.llxprt/hooks/protect-env.mjs',
      content: 'mine',
      says: /protect-env\.mjs is there already/u,
    },
    {
      what: 'a test',
      file: '.llxprt/tests/protect-env.hooktest.json',
      content: 'mine',
      says: /protect-env\.hooktest\.json is there already/u,
    },
    {
      what: 'a hook of that name',
      file: '.llxprt/settings.json',
      content:
        '{"hooks":{"AfterTool":[{"hooks":[{"type":"command","command":"x","name":"protect-env"}]}]}}',
      says: /has a hook named "protect-env" already/u,
    },
    {
      what: 'settings that are no JSON',
      file: '.llxprt/settings.json',
      content: '{"hooks":',
      says: /settings\.json:1:10: not valid JSON: value expected; fix it first/u,
    },
  ])('leaves everything as it is where there is $what', async ({ file, content, says }) => {
    await cli.write(file, content);
    const { exitCode, stderr } = await cli.run(['init']);
    expect(stderr).toMatch(says);
    expect(exitCode).toBeGreaterThan(0);
    expect(await cli.read(file)).toBe(content);
    for (const each of [
      'hooks/protect-env.mjs',
      'tests/protect-env.hooktest.json',
      'settings.json',
    ]) {
      if (file.endsWith(each)) continue;
      await expect(access(join(cli.project, '.llxprt', each))).rejects.toThrow('ENOENT');
    }
  });

  it('tells of a program that the hook needs and that is not there', async () => {
    const env = { PATH: cli.home };
    const { stderr, exitCode } = await cli.run(['init', '--language', 'python'], { env });
    expect(stderr).toBe('warning: the hook needs python3, which is not on your PATH');
    expect(exitCode).toBe(0);
  });

  it('quotes a directory in what it tells to run', async () => {
    await cli.write("it's $(here)/file", '');
    const { stdout } = await cli.run(['init', '--cwd', "it's $(here)"]);
    expect(stdout).toContain(String.raw`--cwd 'it'\''s $(here)'`);
  });
});

describe('init for another agent', () => {
  it.each([
    ['claude', 'BeforeTool', 'Write|Edit'],
    ['claude', 'AfterAgent', undefined],
    ['gemini', 'BeforeTool', '^(write_file|replace)$'],
    ['gemini', 'BeforeModel', undefined],
  ])(
    'writes a hook in the names of %s for %s, which works at once',
    async (dialect, event, matcher) => {
      const { exitCode, stderr } = await cli.run(['init', '--dialect', dialect, '--event', event]);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      const settings = JSON.parse(await cli.read('.llxprt/settings.json')) as {
        hooks: Record<string, object[]>;
      };
      expect(settings.hooks[event]?.[0]).toMatchObject(
        matcher === undefined ? { dialect } : { dialect, matcher },
      );
      expect(await cli.run(['test'])).toMatchObject({ exitCode: 0, stderr: '' });
      expect((await cli.run(['trust', '--check'])).exitCode).toBe(0);
    },
  );

  it('takes a matcher in the names of that agent', async () => {
    const shell = ['--dialect', 'claude', '--matcher', 'Bash', '--language', 'bash'];
    expect((await cli.run(['init', ...shell])).stdout).toContain('--tool run_shell_command');
    expect(await cli.run(['test'])).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('says which events that agent has', async () => {
    const { stderr, exitCode } = await cli.run([
      'init',
      '--dialect',
      'claude',
      '--event',
      'BeforeModel',
    ]);
    expect(stderr).toContain('Claude Code has no hooks at BeforeModel: leave --dialect out');
    expect(exitCode).toBe(2);
  });
});

describe('init --language typescript', () => {
  const stripsTypes = Boolean('typescript' in process.features && process.features.typescript);

  it.runIf(stripsTypes)('writes hooks that Node runs as they are', async () => {
    await cli.run(['init', '--language', 'typescript']);
    await cli.run(['init', '--language', 'typescript', '--event', 'AfterTool']);
    expect((await cli.run(['test'])).stdout).toContain('2 passed, 0 failed');
  });

  it.skipIf(stripsTypes)('says from which version on Node runs them', async () => {
    const { stderr, exitCode } = await cli.run(['init', '--language', 'typescript']);
    expect(stderr).toContain(`from 22.18 on, and this is ${process.version}`);
    expect(exitCode).toBe(2);
  });

  it('has types that the compiler accepts, and whose wrong use it finds', async () => {
    const { starterHook, starterLanguages } = await import('../../src/cli/init/starterHooks.js');
    const { HookEventName } = await import('../../src/protocol/types.js');
    const types = fileURLToPath(new URL('../../node_modules/@types', import.meta.url));
    const files: string[] = [];
    for (const event of Object.values(HookEventName)) {
      const content = starterLanguages.typescript.write(starterHook(event));
      files.push(await cli.write(`${event}.mts`, content));
    }
    const tsc = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));
    const options =
      '--noEmit --strict --target es2022 --module nodenext --types node --erasableSyntaxOnly';
    const compile = () =>
      execa(tsc, [...options.split(' '), '--typeRoots', types, ...files], {
        reject: false,
        cwd: cli.project,
      });
    expect(await compile()).toMatchObject({ exitCode: 0, stdout: '' });
    await cli.write('BeforeTool.mts', `${await cli.read('BeforeTool.mts')}event.tool_inptu;\n`);
    expect((await compile()).stdout).toContain("'tool_inptu' does not exist");
  });
});
