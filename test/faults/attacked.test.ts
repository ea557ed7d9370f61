import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { describe, expect } from 'vitest';
import type { CommandHookConfig } from '../../src/protocol/types.js';
import { MAIN } from '../cli/helpers.js';
import { hook } from '../helpers/hooks.js';
import { fault, type Host } from './helpers/host.js';
import { allowAll, openProject, SETTINGS, writeSettings } from './helpers/project.js';

const EVIL = ': > "$LLXPRT_PROJECT_DIR/pwned"\n';

function writeHooks(host: Host, ...hooks: readonly CommandHookConfig[]): Promise<string> {
  return host.write(SETTINGS, { enableHooks: true, hooks: { BeforeTool: [{ hooks }] } });
}

const guard = (command: string) => hook(command, { name: 'g', onFailure: 'deny' });

/** A session that begins now. */
async function openSession(host: Host) {
  const { config, consent } = await openProject(host);
  await config.getHookSystem()?.initialize();
  return { config, consent };
}

const toolInput = { c: EVIL };

/** Allows what is pinned, and nothing that is open. */
async function allowByPlainYes(host: Host): Promise<void> {
  const { config, consent } = await openSession(host);
  const entries = config.getHookSystem()?.getAllHooks() ?? [];
  await consent.allow(entries.flatMap(({ review }) => review ?? []));
}

/** The built program in the project, with the given environment. */
async function fire(host: Host, env: NodeJS.ProcessEnv) {
  const args = ['fire', 'BeforeTool', '--tool', 'write_file', '--input', '{"file_path":".env"}'];
  return execa(process.execPath, [MAIN, ...args], {
    cwd: host.directory,
    env: { PATH: process.env['PATH'], ...env },
    extendEnv: false,
    reject: false,
    timeout: 30_000,
  });
}

describe('73 what changes while a session runs', () => {
  fault('73 an output that becomes a link to a script', async ({ host }) => {
    await host.write('.llxprt/hooks/x.sh', 'cat > /dev/null\n');
    await writeHooks(host, hook('jq -r .tool_input.c > last.txt; bash .llxprt/hooks/x.sh'));
    await allowByPlainYes(host);
    await symlink('.llxprt/hooks/x.sh', path.join(host.directory, 'last.txt'));
    const { hooks } = await host.callToolOf((await openSession(host)).config, { toolInput });
    expect(hooks).toEqual([]);
    expect(await readFile(path.join(host.directory, '.llxprt/hooks/x.sh'), 'utf8')).not.toBe(EVIL);
    expect(host.exists('pwned')).toBe(false);
  });

  fault('73 the folder of an output that becomes a link to that of a script', async ({ host }) => {
    await host.write('.llxprt/hooks/x.sh', 'cat > /dev/null\n');
    await writeHooks(host, hook('jq -r .tool_input.c > logs/x.sh; bash .llxprt/hooks/x.sh'));
    await allowByPlainYes(host);
    await symlink('.llxprt/hooks', path.join(host.directory, 'logs'));
    const { hooks } = await host.callToolOf((await openSession(host)).config, { toolInput });
    expect(hooks).toEqual([]);
    expect(host.exists('pwned')).toBe(false);
  });

  fault('73 a folder for hooks that becomes a link, while a session runs', async ({ host }) => {
    await host.write('.claude/hooks/x.sh', 'cat > /dev/null\n');
    await host.write('evil/x.sh', EVIL);
    await writeHooks(host, guard('bash .claude/hooks/x.sh'));
    await allowByPlainYes(host);
    const { config } = await openSession(host);
    expect((await host.callToolOf(config)).verdict).toBe('allowed');
    await rm(path.join(host.directory, '.claude/hooks'), { recursive: true });
    await symlink('../evil', path.join(host.directory, '.claude/hooks'));
    expect((await host.callToolOf(config)).verdict).toBe('blocked');
    expect(host.exists('pwned')).toBe(false);
  });

  fault(
    '76 a guard that was replaced denies, and its old command never starts',
    async ({ host }) => {
      await host.write('.claude/hooks/x.sh', 'cat > /dev/null\n');
      await host.write('.gemini/hooks/y.sh', 'cat > /dev/null\n');
      await writeHooks(host, guard('bash .claude/hooks/x.sh'));
      await allowAll(host);
      await host.write('.claude/hooks/x.sh', EVIL);
      await writeHooks(host, guard('bash .gemini/hooks/y.sh'));
      const { config } = await openSession(host);
      expect((await host.callToolOf(config)).verdict).toBe('blocked');
      // Elsewhere, the user allows what is there now.
      await allowAll(host);
      expect((await host.callToolOf(config)).verdict).toBe('blocked');
      expect(host.exists('pwned')).toBe(false);
      expect((await host.callToolOf((await openSession(host)).config)).verdict).toBe('allowed');
    },
  );

  fault(
    '76 a guard that was restored is a hook of the project like any other',
    async ({ host }) => {
      await host.write('.llxprt/hooks/helper.py', 'x = 1\n');
      await host.write(
        '.llxprt/hooks/x.py',
        'import sys, helper\nprint("prefix", sys.pycache_prefix)\n',
      );
      await writeHooks(host, guard('python3 .llxprt/hooks/x.py'));
      await allowAll(host);
      await host.write(SETTINGS, {
        enableHooks: true,
        hooks: { BeforeTool: [{ matcher: 'none', hooks: [guard('python3 .llxprt/hooks/x.py')] }] },
      });
      const { config } = await openSession(host);
      expect((await host.callToolOf(config)).verdict).toBe('blocked');
      await allowAll(host);
      const { hooks } = await host.callToolOf(config);
      expect(hooks[0]?.stdout).toMatch(/^prefix \/.+\/\.llxprt\/pycache/);
    },
  );

  fault('74 a folder that is called like a compiled file is covered', async ({ host }) => {
    const folder = '.llxprt/hooks/__pycache__/a.cpython-311.pyc';
    await host.write(`${folder}/helper.py`, 'x = 1\n');
    await host.write(
      '.llxprt/hooks/x.py',
      `import sys\nsys.path.insert(0, "${folder}")\nimport helper\n`,
    );
    await writeHooks(host, hook('python3 .llxprt/hooks/x.py', { onFailure: 'deny' }));
    await allowAll(host);
    await host.write(`${folder}/helper.py`, 'open("pwned", "w")\n');
    const { text } = await host.callToolOf((await openSession(host)).config);
    expect(text).toContain('has changed since it was allowed');
    expect(host.exists('pwned')).toBe(false);
  });
});

describe('71 what a clone brings besides hooks', () => {
  fault('71 a million keys in a thousand levels', async ({ host }) => {
    await writeSettings(host, [{ hooks: [hook('exit 2', { onFailure: 'deny' })] }], []);
    const keys = '"":0,'.repeat(150_000);
    await host.write(SETTINGS, `{"hooks":${'['.repeat(1000)}{${keys}"":0}${']'.repeat(1000)}}`);
    const startedAt = performance.now();
    const { exitCode } = await fire(host, { HOME: path.join(host.directory, 'home') });
    host.measure('answered in', performance.now() - startedAt, 'ms');
    expect(exitCode).toBe(2);
  });

  fault.for(['', '.', './', 'home/../'])(
    '72 HOME is %j: the clone is not the home of the user',
    async (home, { host }) => {
      await writeHooks(host, hook('touch pwned'));
      await host.write('.llxprt/trusted-hooks.json', { version: 2, projects: {} });
      const { stderr } = await fire(host, { HOME: home });
      expect(host.exists('pwned')).toBe(false);
      expect(stderr).toContain('hookstack trust');
    },
  );

  fault.for([
    `python3 -c 'import json, sys; sys.exit(2 if ".env" in json.load(sys.stdin)["tool_input"]["file_path"] else 0)'`,
    `python3 -u -c 'import json, sys; sys.exit(2 if ".env" in json.load(sys.stdin)["tool_input"]["file_path"] else 0)'`,
    'python3 - <<END\nimport json, sys\nsys.exit(2)\nEND',
    'echo "import json, sys; sys.exit(2)" | python3',
    'echo "import json, sys; sys.exit(2)" | python3 -u 2>&1 | cat; exit "${PIPESTATUS[1]}"',
  ])(
    "71 a json.py in the clone does not take the place of the library's: %s",
    async (command, { host }) => {
      await writeSettings(host, [{ hooks: [hook(command)] }], []);
      await host.write('json.py', 'import os\nopen("pwned", "w")\nos._exit(0)\n');
      const { exitCode } = await fire(host, { HOME: path.join(host.directory, 'home') });
      expect(exitCode).toBe(2);
      expect(host.exists('pwned')).toBe(false);
    },
  );
});

describe("77 the chain of a project's group", () => {
  fault('77 does not end for the hooks of the user', async ({ host }) => {
    await host.write(`home/${SETTINGS}`, {
      enableHooks: true,
      hooks: { AfterTool: [{ hooks: [hook(`echo '{"continue":false,"stopReason":"enough"}'`)] }] },
    });
    const denying = hook(`echo '{"decision":"deny","reason":"no"}'`);
    const own = hook('touch second');
    await host.write(SETTINGS, {
      hooks: { AfterTool: [{ sequential: true, hooks: [denying, own] }] },
    });
    await allowAll(host);
    const { config } = await openSession(host);
    const { verdict } = await host.callToolOf(config);
    expect(verdict).toBe('stopped');
    expect(host.exists('second')).toBe(false);
  });
});

describe('73 a consent of the first form', () => {
  fault.for<[string, (host: Host) => Promise<unknown>]>([
    ['node_modules', (host) => host.write('.llxprt/hooks/node_modules/a.js', '')],
    ['.git', (host) => host.write('.llxprt/hooks/.git/config', '')],
    [
      'five hundred files',
      async (host) => {
        for (let file = 0; file <= 500; file++) {
          await writeFile(path.join(host.directory, `.llxprt/hooks/${file}.txt`), '');
        }
      },
    ],
  ])(
    '73 does not count for less because a folder was made to hold %s',
    async ([, grow], { host }) => {
      const { digestOf, withoutMode } = await import('../../src/trust/consentItem.js');
      await host.write('.llxprt/hooks/x.sh', 'cat > /dev/null\n');
      await writeHooks(host, hook('bash .llxprt/hooks/x.sh', { onFailure: 'deny' }));
      await allowAll(host);
      const { config } = await openSession(host);
      const [entry] = config.getHookSystem()?.getAllHooks() ?? [];
      const { kind, definition, files } = entry?.review?.item ?? never();
      const digests = Object.entries(files).map(([name, digest]) => [name, withoutMode(digest)]);
      const old = { kind, definition, files: Object.fromEntries(digests) };
      const items = [{ ...old, digest: digestOf(old) }];
      const store = path.join(host.directory, 'home/.llxprt/trusted-hooks.json');
      await writeFile(store, JSON.stringify({ version: 1, projects: { [host.directory]: items } }));
      expect((await host.callToolOf((await openSession(host)).config)).verdict).toBe('allowed');
      await grow(host);
      await host.write('.llxprt/hooks/new.sh', EVIL);
      expect((await host.callToolOf((await openSession(host)).config)).verdict).toBe('blocked');
    },
  );
});

function never(): never {
  throw new Error('There is no review');
}
