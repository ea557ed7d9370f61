import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Guard } from '../../src/cli/add/guard.js';
import { askBeforeInstall } from '../../src/cli/add/guards/askBeforeInstall.js';
import { noNetwork } from '../../src/cli/add/guards/noNetwork.js';
import { protectDelete } from '../../src/cli/add/guards/protectDelete.js';
import { protectDeploy } from '../../src/cli/add/guards/protectDeploy.js';
import { protectGit } from '../../src/cli/add/guards/protectGit.js';
import { protectSecrets } from '../../src/cli/add/guards/protectSecrets.js';
import { stayInProject } from '../../src/cli/add/guards/stayInProject.js';
import { describeFiring } from '../../src/cli/shared/fireReport.js';
import type { Config } from '../../src/config/config.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { fireHook } from '../../src/hooks/fireHook.js';
import { HookEventName } from '../../src/protocol/types.js';
import * as installing from './calls/askBeforeInstall.js';
import { everyday } from './calls/everyday.js';
import * as connecting from './calls/noNetwork.js';
import * as deleting from './calls/protectDelete.js';
import * as deploying from './calls/protectDeploy.js';
import * as git from './calls/protectGit.js';
import * as secrets from './calls/protectSecrets.js';
import * as leaving from './calls/stayInProject.js';
import { guardConfig } from './guardConfig.js';

type Call = string | readonly [tool: string, input: object];
type Calls = readonly Call[];

let home = '';
const project = () => join(home, 'project');

const FILES = {
  '.env': 'KEY=1',
  '.env.example': 'KEY=',
  'README.md': 'Hello',
  'urls.txt': 'https://example.com',
  'server.pem': '',
  'deploy.pub': '',
  'notes.txt': '',
  'src/app.ts': '',
  'src/env.ts': '',
  'packages/web/.env.local': 'KEY=1',
  'dist/app.js': '',
  'node_modules/x/index.js': '',
  '.git/HEAD': 'ref: refs/heads/main',
  '.git/config': '',
  '.git/hooks/pre-commit': '',
  '.husky/pre-commit': '',
  '../other/notes.txt': '',
  '../notes.txt': '',
  '../.ssh/id_rsa': '',
  '../.aws/credentials': '',
  '../.bashrc': '',
};
const LINKS = {
  'notes-link': '.env',
  'hooks-link': '.git/hooks',
  'outside-link': '../other',
  'inside-link': 'README.md',
};

beforeEach(async () => {
  // Not in a folder for temporary files, where everybody may write.
  const cache = join(homedir(), '.cache');
  await mkdir(cache, { recursive: true });
  home = await realpath(await mkdtemp(join(cache, 'guards-')));
  for (const [file, content] of Object.entries(FILES)) {
    await mkdir(join(project(), file, '..'), { recursive: true });
    await writeFile(join(project(), file), content);
  }
  for (const [link, target] of Object.entries(LINKS)) {
    await symlink(target, join(project(), link));
  }
  vi.stubEnv('HOME', home);
});
afterEach(() => rm(home, { recursive: true, force: true }));

const createConfig = (guard: Guard) => guardConfig(guard, project());

async function verdict(config: Config, call: Call) {
  const [toolName, toolInput] =
    typeof call === 'string' ? ['run_shell_command', { command: call }] : call;
  const event = HookEventName.BeforeTool;
  const { blocked, asks, reason } = describeFiring(
    event,
    await fireHook(config, event, { toolName, toolInput: { ...toolInput } }),
  );
  return { isStopped: blocked || asks, reason };
}

/** Those of the calls that are not as they should be, with what was said of them. */
async function unlike(config: Config, calls: Calls, isStopped: boolean) {
  const wrong: string[] = [];
  for (const call of calls) {
    const said = await verdict(config, call);
    if (said.isStopped !== isStopped) wrong.push(`${JSON.stringify(call)}: ${said.reason}`);
  }
  return wrong;
}

const RULES: readonly [Guard, { readonly stop: Calls; readonly pass: Calls }][] = [
  [protectSecrets, secrets],
  [protectGit, git],
  [protectDelete, deleting],
  [stayInProject, leaving],
  [noNetwork, connecting],
  [protectDeploy, deploying],
  [askBeforeInstall, installing],
];

describe.each(RULES.map(([guard, calls]) => [guard.name, guard, calls] as const))(
  '%s',
  (_name, guard, { stop, pass }) => {
    it('stops what it is to stop', async () => {
      expect(stop.length).toBeGreaterThanOrEqual(50);
      expect(await unlike(createConfig(guard), stop, true)).toEqual([]);
    });

    it('lets all else pass', async () => {
      expect(pass.length).toBeGreaterThanOrEqual(50);
      expect(await unlike(createConfig(guard), pass, false)).toEqual([]);
    });

    it('is in the way of no everyday work', async () => {
      expect(await unlike(createConfig(guard), everyday, false)).toEqual([]);
    });
  },
);

/** Made up by the published formats, and nobody's; in parts, so that no scanner takes them for real ones. */
const KEYS = [
  ['AKIA', 'IOSFODNN7EXAMPLE'],
  ['ASIA', 'IOSFODNN7EXAMPLE'],
  ['AIza', 'x'.repeat(35)],
  ['GOCSPX-', 'x'.repeat(28)],
  ['dop_v1_', 'a'.repeat(64)],
  ['hvs.', 'x'.repeat(24)],
  ['ghp_', 'a1B2'.repeat(9)],
  ['ghs_', `${'a'.repeat(40)}.${'b'.repeat(60)}.${'c-_'.repeat(20)}`],
  ['github_pat_', `${'x'.repeat(22)}_${'y'.repeat(59)}`],
  ['glpat-', 'x'.repeat(20)],
  ['npm_', 'x'.repeat(36)],
  ['pypi-AgEIcHlwaS5vcmc', 'x'.repeat(60)],
  ['dckr_pat_', 'x'.repeat(27)],
  ['sk-ant-', `api03-${'x'.repeat(93)}AA`],
  ['sk-proj-', 'x'.repeat(40)],
  ['hf_', 'x'.repeat(34)],
  ['gsk_', 'x'.repeat(52)],
  ['xoxb-', '123456789012-abcdef'],
  ['sk_live_', 'x'.repeat(24)],
  ['whsec_', 'x'.repeat(32)],
  ['SG.', `${'x'.repeat(22)}.${'y'.repeat(43)}`],
  ['shpat_', 'a'.repeat(32)],
  ['lin_api_', 'x'.repeat(40)],
  ['eyJ', `${'x'.repeat(20)}.eyJ${'y'.repeat(20)}.${'z'.repeat(20)}`],
  ['-----BEGIN OPENSSH PRIVATE', ' KEY-----\nb3BlbnNzaC1r\n-----END OPENSSH PRIVATE KEY-----'],
  ['-----BEGIN RSA PRIVATE', ' KEY-----\nMIIE'],
].map((parts) => parts.join(''));

const NO_KEYS = [
  'commit 3a20866f1c9e4a52b7d8c1e0f9a8b7c6d5e4f3a2',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  '5d1c2f3e-0000-4000-8000-123456789abc',
  'https://example.com/a:b@c',
  'http://localhost:3000/@scope/name',
  'git@github.com:nodejs/node.git',
  'sk-learn and skip_list and npm_config_registry',
  'ghp_short',
  '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----',
  'const token = process.env.GITHUB_TOKEN;',
];

/** What the model reads of a result. */
async function read(text: string): Promise<unknown> {
  const result = { llmContent: text, returnDisplay: text };
  const input = { absolute_path: 'README.md' };
  const run = async () => result;
  return executeToolWithHooks(createConfig(protectSecrets), 'read_file', input, run);
}

describe('protect-secrets', () => {
  it.each(KEYS)('takes a published format out of results: %s', async (key) => {
    const text = expect.stringMatching(/^a \[redacted: [a-z ]+\](?: b)?$/u) as unknown;
    expect(await read(`a ${key} b`)).toEqual({ llmContent: text, returnDisplay: text });
  });

  it.each([
    ['aws_secret_access_key = ', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', '', 'cloud key'],
    ['"AWS_SECRET_ACCESS_KEY": "', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', '"', 'cloud key'],
    ['postgres://ada:', 'secret', '@db.example.com/shop', 'password'],
  ])('keeps what is around a secret: %s', async (before, secret, after, what) => {
    const text = `${before}[redacted: ${what}]${after}`;
    expect(await read(`${before}${secret}${after}`)).toMatchObject({ llmContent: text });
  });

  it.each(NO_KEYS)('leaves what is none: %s', async (text) => {
    expect(await read(text)).toEqual({ llmContent: text, returnDisplay: text });
  });
});
