import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, vi } from 'vitest';
import { HookConsent } from '../../src/trust/consent.js';
import { loadSettings } from '../../src/config/settings/settings.js';
import type { ConsentClass } from '../../src/hooks/entry.js';
import { hook } from '../helpers/hooks.js';
import { fault, type Host } from './helpers/host.js';

const DIR = '$LLXPRT_PROJECT_DIR';

/** Commands as people write them, by what consent to them covers. */
const FORMS: Readonly<Record<ConsentClass, readonly string[]>> = {
  pinned: [
    // Programs of the machine.
    'true',
    'exit 0',
    'jq -e .tool_input',
    `jq -r '.tool_input.file_path // ""' | grep -qE '\\.env$' && exit 2 || exit 0`,
    'jq -r ".tool_input.command" | grep -q "rm -rf" && { echo no >&2; exit 2; }; true',
    'grep -q rm && exit 2; exit 0',
    'cat >/dev/null; echo "It is Monday."',
    `cat >/dev/null; printf '{"decision": "allow"}'`,
    'cat >> audit.log',
    'tee -a audit.log >/dev/null',
    'jq -c . >> .llxprt/audit.jsonl',
    'date -u +%FT%TZ >> stamps',
    'if grep -q secret; then exit 2; fi',
    '! grep -q secret',
    'command -v jq >/dev/null || exit 0; jq -e .',
    'notify-send "Agent" "is done"',
    "cat <<'END'\n{}\nEND",
    'grep -q x <<< y || true',
    '/usr/bin/env true',
    '(cat | wc -c) >/dev/null 2>&1',
    'time cat >/dev/null',
    'LC_ALL=C sort >/dev/null',
    'NO_COLOR=1 HOOK_MODE=strict jq .',
    'set -euo pipefail; jq -e . >/dev/null',
    // Scripts in a folder of their own.
    'bash hooks/x.sh',
    'sh hooks/x.sh',
    'bash ./hooks/x.sh',
    `bash ${DIR}/hooks/x.sh`,
    `bash "${DIR}/hooks/x.sh"`,
    `bash "${DIR}"/hooks/x.sh`,
    'bash "${LLXPRT_PROJECT_DIR}/hooks/x.sh"',
    'bash $CLAUDE_PROJECT_DIR/hooks/x.sh',
    'bash "$GEMINI_PROJECT_DIR/hooks/x.sh"',
    `${DIR}/hooks/x.sh`,
    `"${DIR}/hooks/x.sh" --strict a b`,
    './hooks/x.sh',
    'hooks/x.sh',
    "'hooks/x.sh'",
    'hooks/x\\.sh',
    "bash 'hooks/a b.sh'",
    'bash -eu hooks/x.sh',
    'bash -euo pipefail hooks/x.sh',
    'bash --norc hooks/x.sh',
    'bash hooks/x.sh --flag "a b"',
    'bash hooks/x.sh 2>/dev/null || true',
    'bash hooks/x.sh >> hook.log 2>&1',
    `cd "${DIR}" && bash hooks/x.sh`,
    'bash hooks/x.sh && bash other/y.sh',
    'cat | bash hooks/x.sh',
    'bash hooks/x.sh | cat',
    'bash hooks/x.sh &\nwait',
    'exec bash hooks/x.sh',
    'env HOOK_MODE=strict bash hooks/x.sh',
    'HOOK_MODE=strict bash hooks/x.sh',
    '/usr/bin/env bash hooks/x.sh',
    'timeout 5 bash hooks/x.sh',
    'timeout -k 1s --signal=TERM 5s bash hooks/x.sh',
    'nice -n 10 bash hooks/x.sh',
    'nohup bash hooks/x.sh',
    'time bash hooks/x.sh',
    'if true; then bash hooks/x.sh; else exit 2; fi',
    'dash hooks/x.sh',
    'python3 hooks/x.py',
    `python3 "${DIR}/hooks/x.py"`,
    'python3 -u hooks/x.py',
    'python3 -B hooks/x.py --strict',
    'python3 -I hooks/x.py',
    'python hooks/x.py',
    'PYTHONUNBUFFERED=1 python3 hooks/x.py',
    './hooks/x.py',
    'node hooks/x.mjs',
    `node ${DIR}/hooks/x.mjs`,
    'node --no-warnings hooks/x.mjs',
    'NODE_ENV=production node hooks/x.cjs',
    './hooks/x.mjs',
    'perl hooks/x.pl',
    'perl -w hooks/x.pl',
    './hooks/isolated.py',
    './hooks/x',
    'jq -f hooks/x.jq',
    'bash way/x.sh',
  ],
  'pinned by file': [
    'bash x.sh',
    `bash "${DIR}/x.sh"`,
    './x.sh',
    'python3 check.py',
    'node index.cjs',
    'bash .llxprt/guard.sh',
    'bash big/x.sh',
    'semgrep --config rules.yml',
    'semgrep --config=rules.yml',
    'grep -f rules.yml || true',
    'grep -frules.yml || true',
    'cat rules.yml >/dev/null',
    'cat < rules.yml >/dev/null',
    'diff rules.yml x.sh >/dev/null || true',
    'grep -rq TODO other || true',
    'jq --slurpfile rules data.json . >/dev/null',
  ],
  open: [
    // Expansions, substitutions, patterns.
    'bash $HOOK',
    'bash "$HOOK"',
    'bash ${HOOK:-hooks/x.sh}',
    'bash ~/hooks/x.sh',
    'bash ~+/hooks/x.sh',
    'bash $PWD/hooks/x.sh',
    'bash $(echo hooks/x.sh)',
    'bash `echo hooks/x.sh`',
    'bash <(cat hooks/x.sh)',
    'bash hooks/*.sh',
    'bash hooks/?.sh',
    'bash hooks/[x].sh',
    'bash hooks/@(x).sh',
    'shopt -s globstar; bash hooks/**/x.sh',
    'bash hooks/{x,y}.sh',
    "bash $'hooks/x.sh'",
    'bash "hooks/$((1)).sh"',
    `bash '${DIR}/hooks/x.sh'`,
    'bash hooks/x.sh "$1"',
    'bash \u00a0hooks/x.sh',
    'bash hooks/x.sh\r',
    // What only the shell knows.
    'cd hooks && ./x.sh',
    'cd hooks && bash x.sh',
    'pushd hooks && bash x.sh',
    'for f in hooks/x.sh; do bash "$f"; done',
    'while read -r f; do bash "$f"; done',
    'case x in *) bash hooks/x.sh ;; esac',
    'f() { bash hooks/x.sh; }; f',
    'eval "bash hooks/x.sh"',
    'source hooks/x.sh',
    '. hooks/x.sh',
    '. ./hooks/x.sh',
    'alias g="bash hooks/x.sh"',
    'trap "bash hooks/x.sh" EXIT',
    'export PATH=hooks',
    'hash -p hooks/x.sh grep; grep',
    'enable -f hooks/x.so x',
    '[[ -f hooks/x.sh ]] && bash hooks/x.sh',
    "test -v 'a[$(bash hooks/x.sh)]'",
    "printf -v 'a[$(bash hooks/x.sh)]' x",
    'printf -v PATH %s other; jq -e .tool_input',
    "printf -v 'BASH_CMDS[jq]' %s other/jq; jq -n 1",
    "[ -v 'a[b[0]+$(bash hooks/x.sh)]' ]",
    "test -R 'a[b[0]+$(bash hooks/x.sh)]'",
    'wait -p PATH; jq -e .',
    "wait -np 'a[$(bash hooks/x.sh)]'",
    'set -a; bash hooks/x.sh',
    'bash <<END\n. hooks/x.sh\nEND',
    "bash <<'END'\n. hooks/x.sh\nEND",
    'bash <<< "bash hooks/x.sh"',
    'bash hooks/x.sh > hooks/out',
    'cat > hooks/x.sh; bash hooks/x.sh',
    'tee hooks/x.sh | bash hooks/x.sh',
    'cat > way/lib.sh; bash way/x.sh',
    'cat > single/lib.sh; bash single/x.sh',
    'cat > single.sh; bash hooks/x.sh',
    'cat > dangling; bash hooks/x.sh',
    'cat > /tmp/out.txt',
    'cat > ../out.txt',
    'tee /tmp/out.txt',
    // Code in the command, or from stdin.
    'bash -c "bash hooks/x.sh"',
    'sh -c ". hooks/x.sh"',
    'bash',
    'bash -s',
    'cat hooks/x.sh | bash',
    'bash < hooks/x.sh',
    'bash -i hooks/x.sh',
    'bash -l hooks/x.sh',
    'bash --rcfile hooks/x.sh',
    'bash -O extglob hooks/x.sh',
    'python3 -c "import hooks"',
    'python3 -m hooks.check',
    'python3 -Bmhooks.check',
    'python3 -m pytest',
    'python3 -E hooks/x.py',
    'node inspect other/y.sh',
    'cat | node inspect x.sh',
    'perl hooks/foreign.pl',
    'ruby hooks/foreign.pl',
    'python3 -',
    'python3 hooks',
    'node -e "require(\'./hooks/x.cjs\')"',
    'node -p 1',
    'node -r ./hooks/x.cjs hooks/x.mjs',
    'node -r pkg hooks/x.mjs',
    "node --import '#g' hooks/x.mjs",
    'node --env-file=.env hooks/x.mjs',
    'node hooks',
    'node .',
    'perl -Ihooks hooks/x.pl',
    'perl -Mx hooks/x.pl',
    'perl -e 1',
    'ruby -r./hooks/x hooks/x.rb',
    'php -r 1',
    // Loaders.
    'npm test',
    'npm run --silent guard',
    'npx guard',
    'pnpm guard',
    'yarn guard',
    'bun run guard',
    'bun hooks/x.mjs',
    'deno run hooks/x.mjs',
    'deno task guard',
    'uv run hooks/x.py',
    'uvx ruff check',
    'poetry run guard',
    'make guard',
    'just guard',
    'cargo test',
    'go run ./hooks',
    'git -c core.hooksPath=hooks commit',
    'git diff --quiet',
    'find hooks -name x.sh -exec {} ;',
    'find hooks -exec bash {} +',
    'xargs bash',
    'parallel bash',
    'run-parts hooks',
    'ssh localhost bash hooks/x.sh',
    'docker run x',
    'sudo bash hooks/x.sh',
    'eslint .',
    'prettier --check .',
    'pytest -q',
    'sed -nf hooks/x.sed',
    'sed -nfhooks/x.sed',
    'awk -f hooks/x.awk',
    'awk \'BEGIN { system("bash hooks/x.sh") }\'',
    'vim -S hooks/x.vim',
    'sort --compress-program=./hooks/x.sh',
    'rg --pre ./hooks/x.sh x',
    'curl -K hooks/curlrc',
    'curl --en ./hooks/x.so file:///dev/null',
    'curl --engine ./hooks/x.so file:///dev/null',
    'sort --co=./hooks/x.sh',
    'tail -f x.sh',
    'sleep 1; bash hooks/x.sh',
    'jq -L hooks .',
    'jq -nfhooks/x.jq',
    `jq 'import "hooks/x" as x; .'`,
    'busybox sh hooks/x.sh',
    'watch bash hooks/x.sh',
    // Variables, wrappers and places.
    'PATH=hooks:$PATH guard',
    'PYTHONPATH=hooks python3 hooks/x.py',
    'BASH_ENV=hooks/x.sh bash hooks/x.sh',
    'MODE=x bash hooks/x.sh',
    'env PATH=hooks guard',
    'env -S "bash hooks/x.sh"',
    'env -i bash hooks/x.sh',
    'exec -a x bash hooks/x.sh',
    'timeout --foo 5 bash hooks/x.sh',
    'builtin eval "bash hooks/x.sh"',
    'command bash -c "bash hooks/x.sh"',
    'bash hooks/../x.sh',
    `bash ${DIR}/../shared/x.sh`,
    'bash ../shared/x.sh',
    '../shared/tool',
    'bash /etc/profile',
    'bash hooks/late.sh',
    './hooks/late',
    'guard',
    'bash /proc/self/cwd/hooks/x.sh',
    'bash /./proc/self/cwd/hooks/x.sh',
    'bash //proc/self/cwd/hooks/x.sh',
    'bash round/x.sh',
    'LC_ALL=zh_CN.gbk jq -e .x',
    'LANG=../../x.UTF-8 jq -e .x',
    'jq -e .x\nLC_ALL=zh_CN.gbk',
    './hooks/made',
    './hooks/inner',
    'bash out/x.sh',
    'bash linked/x.sh',
    'venv/bin/python hooks/x.py',
    'bash broken/x.sh',
  ],
};

/** What is in the project when it is allowed, and harmless. */
async function writeProject(host: Host, stubs: string): Promise<void> {
  const shell = '#!/usr/bin/env bash\ncat >/dev/null\n';
  const files: Record<string, string> = {
    'hooks/x.sh': shell,
    'hooks/a b.sh': shell,
    'hooks/x': 'cat >/dev/null\n',
    'hooks/x.py': '#!/usr/bin/env python3\nimport json, sys\nimport helper\njson.load(sys.stdin)\n',
    'hooks/isolated.py': '#!/usr/bin/env -S python3 -I\nimport json, sys\njson.load(sys.stdin)\n',
    'hooks/helper.py': 'x = 1\n',
    'hooks/x.mjs': '#!/usr/bin/env node\nimport "./helper.mjs";\nprocess.stdin.resume();\n',
    'hooks/helper.mjs': 'export const x = 1;\n',
    'hooks/x.cjs': 'process.stdin.resume();\n',
    'hooks/x.pl': 'my @all = <STDIN>;\n',
    'hooks/x.jq': '.\n',
    'hooks/made': '#!/usr/bin/make -f\nall:\n',
    'hooks/inner': '#!hooks/x.sh\n',
    'other/y.sh': shell,
    'x.sh': shell,
    'check.py': 'import sys\nsys.stdin.read()\n',
    'index.cjs': 'process.stdin.resume();\n',
    '.llxprt/guard.sh': shell,
    'big/x.sh': shell,
    'big/node_modules/a/index.js': '',
    'rules.yml': 'x\n',
    'data.json': '{}\n',
    'linked/x.sh': shell,
    'broken/x.sh': shell,
    'single/y.sh': shell,
    'hooks/foreign.pl': '#!other/y.sh\n',
    inspect: '',
  };
  for (const [file, content] of Object.entries(files)) await host.write(file, content, 0o755);
  const at = (file: string) => path.join(host.directory, file);
  await symlink('hooks', at('way'));
  await symlink(stubs, at('out'));
  await symlink('../hooks', at('linked/more'));
  await symlink('nowhere', at('broken/link'));
  await symlink('../hooks/x.sh', at('single/x.sh'));
  await symlink('hooks/x.sh', at('single.sh'));
  await symlink('hooks/nowhere.sh', at('dangling'));
  await symlink('/proc/self/cwd/hooks', at('round'));
  await mkdir(at('venv/bin'), { recursive: true });
  await symlink('/usr/bin/env', at('venv/bin/python'));
}

/** Every file that somebody could change or add, and what it does then. */
const EVIL: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'hooks/x.sh',
    'hooks/x',
    'hooks/x.py',
    'hooks/helper.py',
    'hooks/helper.mjs',
    'hooks/x.mjs',
    'hooks/lib.sh',
    'hooks/json.py',
    'hooks/sitecustomize.py',
    'hooks/__init__.py',
    'hooks/helper/__init__.py',
    'hooks/json/__init__.py',
    'hooks/package.json',
    'hooks/index.js',
    'hooks/new/deep.sh',
    'hooks/.env',
    'way/more.sh',
    'other/y.sh',
    'other/json.py',
    'x.sh',
    'json.py',
    'helper.py',
    'sitecustomize.py',
    'check.py',
    'index.cjs',
    'rules.yml',
    'data.json',
    'package.json',
    'pyproject.toml',
    'Makefile',
    '.bashrc',
    '.profile',
    '.env',
    '.npmrc',
    '.jq',
    'jq',
    'cat',
    'bash',
    'python3',
    'node',
    'env',
    'bin/jq',
    'bin/bash',
    'bin/cat',
    'bin/python3',
    'bin/node',
    'bin/grep',
    'bin/env',
    'bin/true',
    'node_modules/.bin/jq',
    'node_modules/.bin/bash',
    'node_modules/.bin/grep',
    'node_modules/json/index.js',
    '.llxprt/guard.sh',
    '.llxprt/json.py',
    'big/x.sh',
    'strict',
    'Agent',
    'secret',
  ].map((file) => [file, evilFor(file)]),
);

function evilFor(file: string): string {
  if (file.endsWith('.py')) {
    return `import os\nopen(os.environ['LLXPRT_PROJECT_DIR'] + '/pwned', 'w')\n`;
  }
  if (/\.(?:mjs)$/.test(file)) {
    return `import fs from 'node:fs'; fs.writeFileSync(process.env.LLXPRT_PROJECT_DIR + '/pwned', '');\n`;
  }
  if (/\.c?js$/.test(file)) {
    return `require('node:fs').writeFileSync(process.env.LLXPRT_PROJECT_DIR + '/pwned', '');\n`;
  }
  if (file.endsWith('package.json')) return '{"type":"commonjs","main":"../x.sh"}';
  return '#!/bin/sh\n: > "$LLXPRT_PROJECT_DIR/pwned"\n';
}

const GUARD = { onFailure: 'deny', timeout: 20_000 } as const;

async function openProject(host: Host, ...commands: readonly string[]) {
  const home = path.join(host.directory, '../', `${path.basename(host.directory)}-home`);
  await host.write('.llxprt/settings.json', {
    enableHooks: true,
    hooks: { BeforeTool: [{ hooks: commands.map((command) => hook(command, GUARD)) }] },
  });
  const { settings } = await loadSettings({
    workingDir: host.directory,
    home,
    systemPath: path.join(home, 'none'),
  });
  const consent = await HookConsent.open({ workingDir: host.directory, home });
  const config = host.createConfig({ ...settings, consent });
  await config.getHookSystem()?.initialize();
  return { home, consent, config };
}

/**
 * Changes those of the files whose change is not noticed, and leaves the others as they are.
 *
 * @returns the files that were changed
 */
async function changeUnnoticed(
  host: Host,
  isUnnoticed: () => Promise<boolean>,
): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const [file, evil] of Object.entries(EVIL)) {
    const at = path.join(host.directory, file);
    const before = await readFile(at, 'utf8').catch(() => undefined);
    await host.write(file, evil, 0o755);
    if (await isUnnoticed()) changed.push(file);
    else if (before === undefined) await rm(at);
    else await host.write(file, before, 0o755);
  }
  return changed;
}

/** Programs, and a PATH with folders of the project in it, as `npm run` and direnv leave it, with a way in through a link. */
async function prepare(host: Host, onTestFinished: (work: () => Promise<void>) => void) {
  const stubs = path.join(host.directory, '..', `${path.basename(host.directory)}-stubs`);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(stubs, { recursive: true, force: true });
  });
  for (const program of ['semgrep', 'notify-send', 'rg', 'guard', 'x.sh']) {
    await mkdir(stubs, { recursive: true });
    await writeFile(path.join(stubs, program), '#!/bin/sh\ncat >/dev/null\n', { mode: 0o755 });
  }
  await symlink(path.join(host.directory, 'bin'), path.join(stubs, 'way'));
  const own = ['bin', 'node_modules/.bin', 'hooks'].map((each) => path.join(host.directory, each));
  vi.stubEnv('PATH', [...own, path.join(stubs, 'way'), stubs, process.env['PATH']].join(':'));
  await writeProject(host, stubs);
}

describe('73 a plain yes: what is changed afterwards does not run', () => {
  const forms = Object.entries(FORMS).flatMap(([covers, commands]) =>
    commands.map((command) => [command, covers as ConsentClass] as const),
  );

  fault('73 there are at least 150 forms', () => {
    expect(forms.length).toBeGreaterThanOrEqual(150);
    expect(new Set(forms.map(([command]) => command)).size).toBe(forms.length);
  });

  fault('73 what it cannot cover stays out', async ({ host, onTestFinished }) => {
    await prepare(host, onTestFinished);
    const first = await openProject(host, ...FORMS.open);
    onTestFinished(() => rm(first.home, { recursive: true, force: true }));
    const entries = first.config.getHookSystem()?.getAllHooks() ?? [];
    expect(entries.map(({ config, review }) => [config.command, review?.class])).toEqual(
      FORMS.open.map((command) => [command, 'open']),
    );
    await first.consent.allow(entries.flatMap(({ review }) => review ?? []));
    const { config } = await openProject(host, ...FORMS.open);
    const after = config.getHookSystem()?.getAllHooks() ?? [];
    expect(after.map(({ enabled }) => enabled)).toEqual(FORMS.open.map(() => false));
  });

  fault.for(forms.filter(([, covers]) => covers !== 'open'))(
    '73 %j is %s',
    { timeout: 120_000 },
    async ([command, covers], { host, onTestFinished }) => {
      await prepare(host, onTestFinished);
      const first = await openProject(host, command);
      onTestFinished(() => rm(first.home, { recursive: true, force: true }));
      const [entry] = first.config.getHookSystem()?.getAllHooks() ?? [];
      expect(entry?.review).toMatchObject({ class: covers });
      await first.consent.allow(entry?.review ? [entry.review] : []);
      const { config } = await openProject(host, command);
      const [allowed] = config.getHookSystem()?.getAllHooks() ?? [];
      expect(allowed?.enabled).toBe(true);

      // As it was allowed, it runs.
      expect((await host.callToolOf(config)).hooks[0]?.exitCode).toBeDefined();
      await rm(path.join(host.directory, 'nohup.out'), { force: true });

      // What is covered is noticed; all the rest stays changed, and does nothing.
      const registry = config.getHookSystem()?.getRegistry();
      const isUnnoticed = async () =>
        allowed !== undefined && (await registry?.findObjection(allowed.config)) === undefined;
      const uncovered = await changeUnnoticed(host, isUnnoticed);
      expect(uncovered).toContain('bin/bash');
      expect((await host.callToolOf(config)).hooks[0]?.exitCode).toBeDefined();
      expect(host.exists('pwned')).toBe(false);
    },
  );
});
