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
    'bash .llxprt/hooks/x.sh',
    'sh .llxprt/hooks/x.sh',
    'bash ./.llxprt/hooks/x.sh',
    `bash ${DIR}/.llxprt/hooks/x.sh`,
    `bash "${DIR}/.llxprt/hooks/x.sh"`,
    `bash "${DIR}"/.llxprt/hooks/x.sh`,
    'bash "${LLXPRT_PROJECT_DIR}/.llxprt/hooks/x.sh"',
    'bash $CLAUDE_PROJECT_DIR/.llxprt/hooks/x.sh',
    'bash "$GEMINI_PROJECT_DIR/.llxprt/hooks/x.sh"',
    `${DIR}/.llxprt/hooks/x.sh`,
    `"${DIR}/.llxprt/hooks/x.sh" --strict a b`,
    './.llxprt/hooks/x.sh',
    '.llxprt/hooks/x.sh',
    "'.llxprt/hooks/x.sh'",
    "bash '.llxprt/hooks/a b.sh'",
    'bash -eu .llxprt/hooks/x.sh',
    'bash -euo pipefail .llxprt/hooks/x.sh',
    'bash --norc .llxprt/hooks/x.sh',
    'bash .llxprt/hooks/x.sh --flag "a b"',
    '/usr/bin/env bash .llxprt/hooks/x.sh',
    'dash .llxprt/hooks/x.sh',
    'python3 .llxprt/hooks/x.py',
    `python3 "${DIR}/.llxprt/hooks/x.py"`,
    'python3 -u .llxprt/hooks/x.py',
    'python3 -B .llxprt/hooks/x.py --strict',
    'python3 -I .llxprt/hooks/x.py',
    'python .llxprt/hooks/x.py',
    './.llxprt/hooks/x.py',
    'node .llxprt/hooks/x.mjs',
    `node ${DIR}/.llxprt/hooks/x.mjs`,
    'node --no-warnings .llxprt/hooks/x.mjs',
    'node .llxprt/hooks/x.cjs --require other/y.sh',
    './.llxprt/hooks/x.mjs',
    'perl .llxprt/hooks/x.pl',
    'perl -w .llxprt/hooks/x.pl',
    './.llxprt/hooks/isolated.py',
    './.llxprt/hooks/x',
    'bash .llxprt/hooks/inside.sh',
    // As projects of other agents have them.
    'bash .claude/hooks/x.sh',
    '$CLAUDE_PROJECT_DIR/.claude/hooks/x.sh',
    '"$CLAUDE_PROJECT_DIR"/.claude/hooks/x.sh',
    '"$CLAUDE_PROJECT_DIR/.claude/hooks/x.sh" Write',
    '${CLAUDE_PROJECT_DIR}/.claude/hooks/x.sh',
    'python3 $CLAUDE_PROJECT_DIR/.claude/hooks/x.py',
    'bash "${GEMINI_PROJECT_DIR}"/.gemini/hooks/x.sh',
    './.gemini/hooks/sub/x.sh',
    'bash .claude/hooks/node_modules/.bin/x.sh',
  ],
  open: [
    // Programs of the machine, lines of shell, and variables before a program.
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
    '.llxprt/hooks/x\\.sh',
    'bash .llxprt/hooks/x.sh 2>/dev/null || true',
    'bash .llxprt/hooks/x.sh >> hook.log 2>&1',
    `cd "${DIR}" && bash .llxprt/hooks/x.sh`,
    'bash .llxprt/hooks/x.sh && bash other/y.sh',
    'cat | bash .llxprt/hooks/x.sh',
    'bash .llxprt/hooks/x.sh | cat',
    'bash .llxprt/hooks/x.sh &\nwait',
    'exec bash .llxprt/hooks/x.sh',
    'env HOOK_MODE=strict bash .llxprt/hooks/x.sh',
    'HOOK_MODE=strict bash .llxprt/hooks/x.sh',
    'timeout 5 bash .llxprt/hooks/x.sh',
    'timeout -k 1s --signal=TERM 5s bash .llxprt/hooks/x.sh',
    'nice -n 10 bash .llxprt/hooks/x.sh',
    'nohup bash .llxprt/hooks/x.sh',
    'time bash .llxprt/hooks/x.sh',
    'if true; then bash .llxprt/hooks/x.sh; else exit 2; fi',
    'PYTHONUNBUFFERED=1 python3 .llxprt/hooks/x.py',
    'NODE_ENV=production node .llxprt/hooks/x.cjs',
    'jq -f .llxprt/hooks/x.jq',
    'bash way/x.sh',
    // Scripts in other folders, and what programs read.
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
    // Expansions, substitutions, patterns.
    'bash $HOOK',
    'bash "$HOOK"',
    'bash ${HOOK:-hooks/x.sh}',
    'bash ~/.llxprt/hooks/x.sh',
    'bash ~+/.llxprt/hooks/x.sh',
    'bash $PWD/.llxprt/hooks/x.sh',
    'bash $(echo .llxprt/hooks/x.sh)',
    'bash `echo .llxprt/hooks/x.sh`',
    'bash <(cat .llxprt/hooks/x.sh)',
    'bash .llxprt/hooks/*.sh',
    'bash .llxprt/hooks/?.sh',
    'bash .llxprt/hooks/[x].sh',
    'bash .llxprt/hooks/@(x).sh',
    'shopt -s globstar; bash .llxprt/hooks/**/x.sh',
    'bash .llxprt/hooks/{x,y}.sh',
    "bash $'.llxprt/hooks/x.sh'",
    'bash ".llxprt/hooks/$((1)).sh"',
    `bash '${DIR}/.llxprt/hooks/x.sh'`,
    'bash .llxprt/hooks/x.sh "$1"',
    'bash \u00a0hooks/x.sh',
    'bash .llxprt/hooks/x.sh\r',
    // What only the shell knows.
    'cd .llxprt/hooks && ./x.sh',
    'cd .llxprt/hooks && bash x.sh',
    'pushd .llxprt/hooks && bash x.sh',
    'for f in .llxprt/hooks/x.sh; do bash "$f"; done',
    'while read -r f; do bash "$f"; done',
    'case x in *) bash .llxprt/hooks/x.sh ;; esac',
    'f() { bash .llxprt/hooks/x.sh; }; f',
    'eval "bash .llxprt/hooks/x.sh"',
    'source .llxprt/hooks/x.sh',
    '. .llxprt/hooks/x.sh',
    '. ./.llxprt/hooks/x.sh',
    'alias g="bash .llxprt/hooks/x.sh"',
    'trap "bash .llxprt/hooks/x.sh" EXIT',
    'export PATH=.llxprt/hooks',
    'hash -p .llxprt/hooks/x.sh grep; grep',
    'enable -f .llxprt/hooks/x.so x',
    '[[ -f .llxprt/hooks/x.sh ]] && bash .llxprt/hooks/x.sh',
    "test -v 'a[$(bash .llxprt/hooks/x.sh)]'",
    "printf -v 'a[$(bash .llxprt/hooks/x.sh)]' x",
    'printf -v PATH %s other; jq -e .tool_input',
    "printf -v 'BASH_CMDS[jq]' %s other/jq; jq -n 1",
    "[ -v 'a[b[0]+$(bash .llxprt/hooks/x.sh)]' ]",
    "test -R 'a[b[0]+$(bash .llxprt/hooks/x.sh)]'",
    'wait -p PATH; jq -e .',
    "wait -np 'a[$(bash .llxprt/hooks/x.sh)]'",
    'set -a; bash .llxprt/hooks/x.sh',
    'bash <<END\n. .llxprt/hooks/x.sh\nEND',
    "bash <<'END'\n. .llxprt/hooks/x.sh\nEND",
    'bash <<< "bash .llxprt/hooks/x.sh"',
    'bash .llxprt/hooks/x.sh > .llxprt/hooks/out',
    'cat > .llxprt/hooks/x.sh; bash .llxprt/hooks/x.sh',
    'tee .llxprt/hooks/x.sh | bash .llxprt/hooks/x.sh',
    'cat > way/lib.sh; bash way/x.sh',
    'cat > single/lib.sh; bash single/x.sh',
    'cat > single.sh; bash .llxprt/hooks/x.sh',
    'cat > dangling; bash .llxprt/hooks/x.sh',
    'cat > /tmp/out.txt',
    'cat > ../out.txt',
    'tee /tmp/out.txt',
    // Code in the command, or from stdin.
    'bash -c "bash .llxprt/hooks/x.sh"',
    'sh -c ". .llxprt/hooks/x.sh"',
    'bash',
    'bash -s',
    'cat .llxprt/hooks/x.sh | bash',
    'bash < .llxprt/hooks/x.sh',
    'bash -i .llxprt/hooks/x.sh',
    'bash -l .llxprt/hooks/x.sh',
    'bash --rcfile .llxprt/hooks/x.sh',
    'bash -O extglob .llxprt/hooks/x.sh',
    'python3 -c "import hooks"',
    'python3 -m hooks.check',
    'python3 -Bmhooks.check',
    'python3 -m pytest',
    'python3 -E .llxprt/hooks/x.py',
    'node inspect other/y.sh',
    'cat | node inspect x.sh',
    'perl .llxprt/hooks/foreign.pl',
    'ruby .llxprt/hooks/foreign.pl',
    'python3 -',
    'python3 .llxprt/hooks',
    'node -e "require(\'./.llxprt/hooks/x.cjs\')"',
    'node -p 1',
    'node -r ./.llxprt/hooks/x.cjs .llxprt/hooks/x.mjs',
    'node -r pkg .llxprt/hooks/x.mjs',
    "node --import '#g' .llxprt/hooks/x.mjs",
    'node --env-file=.env .llxprt/hooks/x.mjs',
    'node .llxprt/hooks',
    'node .',
    'perl -Ihooks .llxprt/hooks/x.pl',
    'perl -Mx .llxprt/hooks/x.pl',
    'perl -e 1',
    'ruby -r./hooks/x .llxprt/hooks/x.rb',
    'php -r 1',
    // Loaders.
    'npm test',
    'npm run --silent guard',
    'npx guard',
    'pnpm guard',
    'yarn guard',
    'bun run guard',
    'bun .llxprt/hooks/x.mjs',
    'deno run .llxprt/hooks/x.mjs',
    'deno task guard',
    'uv run .llxprt/hooks/x.py',
    'uvx ruff check',
    'poetry run guard',
    'make guard',
    'just guard',
    'cargo test',
    'go run ./hooks',
    'git -c core.hooksPath=.llxprt/hooks commit',
    'git diff --quiet',
    'find .llxprt/hooks -name x.sh -exec {} ;',
    'find .llxprt/hooks -exec bash {} +',
    'xargs bash',
    'parallel bash',
    'run-parts .llxprt/hooks',
    'ssh localhost bash .llxprt/hooks/x.sh',
    'docker run x',
    'sudo bash .llxprt/hooks/x.sh',
    'eslint .',
    'prettier --check .',
    'pytest -q',
    'sed -nf .llxprt/hooks/x.sed',
    'sed -nf.llxprt/hooks/x.sed',
    'awk -f .llxprt/hooks/x.awk',
    'awk \'BEGIN { system("bash .llxprt/hooks/x.sh") }\'',
    'vim -S .llxprt/hooks/x.vim',
    'sort --compress-program=./.llxprt/hooks/x.sh',
    'rg --pre ./.llxprt/hooks/x.sh x',
    'curl -K .llxprt/hooks/curlrc',
    'curl --en ./.llxprt/hooks/x.so file:///dev/null',
    'curl --engine ./.llxprt/hooks/x.so file:///dev/null',
    'sort --co=./.llxprt/hooks/x.sh',
    'tail -f x.sh',
    'sleep 1; bash .llxprt/hooks/x.sh',
    'jq -L .llxprt/hooks .',
    'jq -nf.llxprt/hooks/x.jq',
    `jq 'import ".llxprt/hooks/x" as x; .'`,
    'busybox sh .llxprt/hooks/x.sh',
    'watch bash .llxprt/hooks/x.sh',
    // Variables, wrappers and places.
    'PATH=hooks:$PATH guard',
    'PYTHONPATH=.llxprt/hooks python3 .llxprt/hooks/x.py',
    'BASH_ENV=.llxprt/hooks/x.sh bash .llxprt/hooks/x.sh',
    'MODE=x bash .llxprt/hooks/x.sh',
    'env PATH=.llxprt/hooks guard',
    'env -S "bash .llxprt/hooks/x.sh"',
    'env -i bash .llxprt/hooks/x.sh',
    'exec -a x bash .llxprt/hooks/x.sh',
    'timeout --foo 5 bash .llxprt/hooks/x.sh',
    'builtin eval "bash .llxprt/hooks/x.sh"',
    'command bash -c "bash .llxprt/hooks/x.sh"',
    'bash .llxprt/hooks/../x.sh',
    `bash ${DIR}/../shared/x.sh`,
    'bash ../shared/x.sh',
    '../shared/tool',
    'bash /etc/profile',
    'bash .llxprt/hooks/late.sh',
    './.llxprt/hooks/late',
    'guard',
    'bash /proc/self/cwd/.llxprt/hooks/x.sh',
    'bash /./proc/self/cwd/.llxprt/hooks/x.sh',
    'bash //proc/self/cwd/.llxprt/hooks/x.sh',
    'bash round/x.sh',
    'LC_ALL=zh_CN.gbk jq -e .x',
    'LANG=../../x.UTF-8 jq -e .x',
    'jq -e .x\nLC_ALL=zh_CN.gbk',
    './.llxprt/hooks/made',
    './.llxprt/hooks/inner',
    'bash out/x.sh',
    'bash linked/x.sh',
    'venv/bin/python .llxprt/hooks/x.py',
    'bash broken/x.sh',
    // What is nearly a script in a folder for hooks.
    'node --require ./other/y.cjs .claude/hooks/x.mjs',
    'node -r./other/y.cjs .claude/hooks/x.mjs',
    'node --import ./other/y.mjs .claude/hooks/x.mjs',
    'node --loader=./other/y.mjs .claude/hooks/x.mjs',
    'node --no-warnings --require ./other/y.cjs .claude/hooks/x.mjs',
    'bash pipefail .llxprt/hooks/x.sh',
    'bash -o other/y.sh .llxprt/hooks/x.sh',
    "bash '-eu -o' .llxprt/hooks/x.sh",
    'bash other/y.sh .llxprt/hooks/x.sh',
    'bash -- .llxprt/hooks/x.sh',
    'bash "" .llxprt/hooks/x.sh',
    'NODE_OPTIONS=--require=./other/y.cjs node .claude/hooks/x.mjs',
    'A=1 .claude/hooks/x.sh',
    'cd .claude/hooks && ./x.sh',
    'cd .claude && hooks/x.sh',
    './.claude/hooks/x.sh; ./other/y.sh',
    './.claude/hooks/x.sh\nother/y.sh',
    './.claude/hooks/x.sh & other/y.sh',
    './.claude/hooks/x.sh | other/y.sh',
    './.claude/hooks/x.sh || ./other/y.sh',
    './.claude/hooks/x.sh $(other/y.sh)',
    './.claude/hooks/x.sh > .claude/hooks/out',
    './.claude/hooks/x.sh "`other/y.sh`"',
    './.claude/hooks/../../other/y.sh',
    './.claude/hooks/x*.sh',
    './.claude/hooks/{x,y}.sh',
    './.claude/hooksX/x.sh',
    './.claude/Hooks/x.sh',
    './.CLAUDE/hooks/x.sh',
    './.claude/hooks',
    'bash .claude/hooks',
    './.claude/hooks/late.sh',
    './sub/.claude/hooks/x.sh',
    '/.claude/hooks/x.sh',
    '$HOME/.claude/hooks/x.sh',
    '~/.claude/hooks/x.sh',
    "'$CLAUDE_PROJECT_DIR'/.claude/hooks/x.sh",
    '$CLAUDE_PROJECT_DIRX/.claude/hooks/x.sh',
    '${CLAUDE_PROJECT_DIR:-.}/.claude/hooks/x.sh',
    '${CLAUDE_PROJECT_DIR}x/.claude/hooks/x.sh',
    '\\$CLAUDE_PROJECT_DIR/.claude/hooks/x.sh',
    'bash .claude/hooks/x.sh gr\u00f6\u00dfe',
    'other/env bash .claude/hooks/x.sh',
    'env -S bash .claude/hooks/x.sh',
    'env env=x bash .claude/hooks/x.sh',
    'command bash .claude/hooks/x.sh',
    'bash -c .claude/hooks/x.sh',
    'bash +c .claude/hooks/x.sh',
    'bash -ec .claude/hooks/x.sh',
    'python3 -c .claude/hooks/x.py',
    'python3 -ic .claude/hooks/x.py',
    'python3 -X importtime .claude/hooks/x.py',
    'perl -d .claude/hooks/x.pl',
    'php .claude/hooks/x.php',
    'bun .claude/hooks/x.mjs',
    './.llxprt/hooks/relative',
    './.llxprt/hooks/options',
    './.llxprt/hooks/ending',
  ],
};

/** What is in the project when it is allowed, and harmless. */
async function writeProject(host: Host, stubs: string): Promise<void> {
  const shell = '#!/usr/bin/env bash\ncat >/dev/null\n';
  const files: Record<string, string> = {
    '.llxprt/hooks/x.sh': shell,
    '.llxprt/hooks/a b.sh': shell,
    '.llxprt/hooks/x': 'cat >/dev/null\n',
    '.llxprt/hooks/x.py':
      '#!/usr/bin/env python3\nimport json, sys\nimport helper\njson.load(sys.stdin)\n',
    '.llxprt/hooks/isolated.py':
      '#!/usr/bin/env -S python3 -I\nimport json, sys\njson.load(sys.stdin)\n',
    '.llxprt/hooks/helper.py': 'x = 1\n',
    '.llxprt/hooks/x.mjs': '#!/usr/bin/env node\nimport "./helper.mjs";\nprocess.stdin.resume();\n',
    '.llxprt/hooks/helper.mjs': 'export const x = 1;\n',
    '.llxprt/hooks/x.cjs': 'process.stdin.resume();\n',
    '.llxprt/hooks/x.pl': 'my @all = <STDIN>;\n',
    '.llxprt/hooks/x.jq': '.\n',
    '.llxprt/hooks/made': '#!/usr/bin/make -f\nall:\n',
    '.llxprt/hooks/inner': '#!.llxprt/hooks/x.sh\n',
    '.llxprt/hooks/relative': '#!env bash\n',
    '.llxprt/hooks/options': '#!/usr/bin/env -S node --require ./other/y.cjs\n',
    '.llxprt/hooks/ending': '#!/bin/bash -e -u\n',
    '.claude/hooks/x.sh': shell,
    '.claude/hooks/x.py': 'import sys\nsys.stdin.read()\n',
    '.claude/hooks/x.mjs': 'process.stdin.resume();\n',
    '.claude/hooks/x.pl': 'my @all = <STDIN>;\n',
    '.claude/hooks/x.php': '',
    '.claude/hooks/node_modules/.bin/x.sh': shell,
    '.gemini/hooks/x.sh': shell,
    '.gemini/hooks/sub/x.sh': shell,
    'sub/.claude/hooks/x.sh': shell,
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
    '.llxprt/hooks/foreign.pl': '#!other/y.sh\n',
    inspect: '',
  };
  for (const [file, content] of Object.entries(files)) await host.write(file, content, 0o755);
  const at = (file: string) => path.join(host.directory, file);
  await symlink('.llxprt/hooks', at('way'));
  await symlink(stubs, at('out'));
  await symlink('../.llxprt/hooks', at('linked/more'));
  await symlink('nowhere', at('broken/link'));
  await symlink('../.llxprt/hooks/x.sh', at('single/x.sh'));
  await symlink('x.sh', at('.llxprt/hooks/inside.sh'));
  await symlink('.llxprt/hooks/x.sh', at('single.sh'));
  await symlink('.llxprt/hooks/nowhere.sh', at('dangling'));
  await symlink('/proc/self/cwd/.llxprt/hooks', at('round'));
  await mkdir(at('venv/bin'), { recursive: true });
  await symlink('/usr/bin/env', at('venv/bin/python'));
}

/** Every file that somebody could change or add, and what it does then. */
const EVIL: Readonly<Record<string, string>> = Object.fromEntries(
  [
    '.llxprt/hooks/x.sh',
    '.llxprt/hooks/x',
    '.llxprt/hooks/x.py',
    '.llxprt/hooks/helper.py',
    '.llxprt/hooks/helper.mjs',
    '.llxprt/hooks/x.mjs',
    '.llxprt/hooks/lib.sh',
    '.llxprt/hooks/json.py',
    '.llxprt/hooks/sitecustomize.py',
    '.llxprt/hooks/__init__.py',
    '.llxprt/hooks/helper/__init__.py',
    '.llxprt/hooks/json/__init__.py',
    '.llxprt/hooks/package.json',
    '.llxprt/hooks/index.js',
    '.llxprt/hooks/new/deep.sh',
    '.llxprt/hooks/.env',
    'way/more.sh',
    '.claude/hooks/x.sh',
    '.claude/hooks/lib.sh',
    '.claude/hooks/node_modules/.bin/x.sh',
    '.gemini/hooks/x.sh',
    '.gemini/hooks/sub/x.sh',
    '.gemini/hooks/sub/sys.py',
    'sub/.claude/hooks/x.sh',
    'other/y.cjs',
    'pipefail',
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
  const consent = await HookConsent.read({ workingDir: host.directory, home });
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
  const own = ['bin', 'node_modules/.bin', '.llxprt/hooks'].map((each) =>
    path.join(host.directory, each),
  );
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
