import {
  appendFile,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = path.resolve(import.meta.dirname, '../..');
const INSTALL = 'Install hookstack';

interface Step {
  readonly name: string;
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
}

interface PreCommitHook {
  readonly id: string;
  readonly entry: string;
  readonly additional_dependencies: readonly string[];
}

const action = (await readYaml('github-action/action.yml')) as Action;
const preCommit = (await readYaml('pre-commit/.pre-commit-hooks.yaml')) as PreCommitHook[];
const { version } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};

let base: string;
/** What a colleague has cloned. */
let clone: string;
let digest: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'hookstack-ci-')));
  for (const name of ['home', 'colleague', 'bin', 'origin']) await mkdir(path.join(base, name));
  await symlink(path.join(ROOT, 'dist/cli.cjs'), path.join(base, 'bin/hookstack'));
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
  env = { ...Object.fromEntries(inherited), HOME: path.join(base, 'home'), NO_COLOR: '1' };
  delete env['HOOKSTACK_TRUST_WORKSPACE'];
  env['PATH'] = `${path.join(base, 'bin')}:${env['PATH']}`;
  const origin = { cwd: path.join(base, 'origin'), env, extendEnv: false };
  await execa('git', ['init', '--quiet', '--initial-branch=main'], origin);
  await execa('hookstack', ['init', '--language', 'bash'], origin);
  digest = (await execa('hookstack', ['trust', '--lock'], origin)).stdout;
  await execa('git', ['add', '--all'], origin);
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  await execa('git', [...author, 'commit', '--quiet', '--message=Add a hook'], origin);
  env = { ...env, HOME: path.join(base, 'colleague') };
});

afterAll(() => rm(base, { recursive: true, force: true }));

beforeEach(async () => {
  clone = path.join(await mkdtemp(path.join(base, 'clone-')), 'shop');
  await execa('git', ['clone', '--quiet', path.join(base, 'origin'), clone], { env });
});

describe('the Action for GitHub', () => {
  it('passes a repository in which all is well, and writes the results of the tests', async () => {
    expect(await runAction()).toMatchObject({ failed: null });
    expect(await readFile(path.join(clone, 'hooktests.xml'), 'utf8')).toContain('<testsuite');
  });

  it('fails at the line where settings are broken', async () => {
    await appendFile(path.join(clone, '.llxprt/settings.json'), ',');
    const { failed, output } = await runAction();
    expect(failed).toBe('Check the settings');
    expect(output).toMatch(/^::error file=\.llxprt\/settings\.json,line=\d+,col=\d+,/m);
  });

  it('fails where a script is not as it was locked, and does not run it', async () => {
    await appendFile(guard(), '\ntouch "$LLXPRT_PROJECT_DIR/ran"\n');
    const { failed, output } = await runAction();
    expect(failed).toBe('Compare with the lock');
    expect(output).toContain('protect-env.sh');
    expect(output).toContain('::error::Hooks or settings are not as they were locked.');
    const { stdout } = await execa('git', ['status', '--short'], { cwd: clone });
    expect(stdout).toBe(' M .llxprt/hooks/protect-env.sh');
  });

  it('fails where the lock has changed along with the script', async () => {
    await appendFile(guard(), '\n# changed\n');
    await execa('hookstack', ['trust', '--lock'], { cwd: clone, env, extendEnv: false });
    const { failed, output } = await runAction();
    expect(failed).toBe('Compare with the lock');
    expect(output).toContain('HOOKSTACK_TRUST_LOCK allows nothing, because');
  });

  it('fails where no digest was given, and says where it comes from', async () => {
    const { failed, output } = await runAction({ lock: '' });
    expect(failed).toBe('Compare with the lock');
    expect(output).toContain('::error::The input "lock" is empty. Run "hookstack trust --lock"');
  });

  it('fails where a hook does not answer as recorded', async () => {
    const script = await readFile(guard(), 'utf8');
    await execa('sed', ['-i', 's/exit 2/exit 0/', guard()]);
    expect(await readFile(guard(), 'utf8')).not.toBe(script);
    const locked = await execa('hookstack', ['trust', '--lock'], { cwd: clone, env });
    const { failed, output } = await runAction({ lock: locked.stdout });
    expect(failed).toBe('Test the hooks');
    expect(output).toContain('- expected "block"');
    expect(await readFile(path.join(clone, 'hooktests.xml'), 'utf8')).toContain('<failure');
  });

  it('takes what it is given for data', async () => {
    const pwned = '$(touch pwned)"; touch pwned; "';
    const inputs = { lock: digest + pwned, directory: pwned, junit: pwned, version: pwned };
    const stub = { PATH: `${path.join(base, 'stub')}:${env['PATH']}` };
    await mkdir(path.join(base, 'stub'));
    await writeFile(path.join(base, 'stub/npm'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    for (const step of shellSteps()) await runStep(step, { ...defaults(), ...inputs }, stub);
    const { stdout } = await execa('git', ['status', '--short'], { cwd: clone });
    expect(stdout).not.toMatch(/ pwned$/m);
    for (const { run } of shellSteps()) expect(run).not.toContain('${{');
  });

  // It downloads what the package needs, as every CI does.
  it.runIf(process.env['CI'])('installs the package', { timeout: 120_000 }, async () => {
    const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', base];
    const { stdout } = await execa('npm', pack, { cwd: ROOT });
    const tarball = `file:${path.join(base, stdout.trim())}`;
    const npm = { npm_config_prefix: path.join(base, 'installed') };
    const step = shellSteps().find(({ name }) => name === INSTALL);
    const installed = await runStep(step, { ...defaults(), version: tarball }, npm);
    expect(installed).toMatchObject({ exitCode: 0 });
    const program = path.join(base, 'installed/bin/hookstack');
    expect((await execa(program, ['--version'], { env })).stdout).toBe(version);
  });
});

describe('the manifest for pre-commit', () => {
  it('passes once the colleague has allowed the hooks, and not before', async () => {
    expect(await runEntries()).toEqual({
      'hookstack-validate': 0,
      'hookstack-trust': 1,
      'hookstack-test': 1,
    });
    const home = { ...env, HOME: clone };
    await execa('hookstack', ['trust', '--yes'], { cwd: clone, env: home, extendEnv: false });
    expect(Object.values(await runEntries(home))).toEqual([0, 0, 0]);
    await appendFile(path.join(clone, '.llxprt/settings.json'), ',');
    expect(await runEntries(home)).toMatchObject({ 'hookstack-validate': 1 });
  });
});

it('what CI and pre-commit install is this version', () => {
  expect(action.inputs['version']?.default).toBe(version);
  for (const hook of preCommit) {
    expect(hook.additional_dependencies).toEqual([`hookstack@${version}`]);
  }
});

async function readYaml(file: string): Promise<unknown> {
  return parse(await readFile(path.join(ROOT, 'examples', file), 'utf8'));
}

function guard(): string {
  return path.join(clone, '.llxprt/hooks/protect-env.sh');
}

function shellSteps(): Step[] {
  return action.runs.steps.filter(({ run }) => run !== undefined);
}

function defaults(): Record<string, string> {
  const given = Object.entries(action.inputs).map(([name, input]) => [name, input.default ?? '']);
  return { ...Object.fromEntries(given), lock: digest } as Record<string, string>;
}

/** Runs the steps as far as they succeed. `hookstack` is there already. */
async function runAction(inputs: Readonly<Record<string, string>> = {}) {
  let output = '';
  for (const step of shellSteps()) {
    if (step.name === INSTALL) continue;
    const ran = await runStep(step, { ...defaults(), ...inputs });
    output += ran.all;
    if (ran.exitCode !== 0) return { failed: step.name, output };
  }
  return { failed: null, output };
}

/** As a runner of GitHub starts a step with `shell: bash`. */
async function runStep(
  step: Step | undefined,
  inputs: Readonly<Record<string, string>>,
  others: NodeJS.ProcessEnv = {},
) {
  const variables = Object.entries(step?.env ?? {}).map(([name, value]) => [
    name,
    value.replaceAll(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_all, input: string) => inputs[input] ?? ''),
  ]);
  const { exitCode, all } = await execa(
    'bash',
    ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step?.run ?? 'exit 1'],
    {
      cwd: clone,
      env: { ...env, GITHUB_WORKSPACE: clone, ...others, ...Object.fromEntries(variables) },
      extendEnv: false,
      reject: false,
      all: true,
    },
  );
  return { exitCode, all };
}

/** Exit codes by the id of the hook. */
async function runEntries(variables = env): Promise<Record<string, number | undefined>> {
  const codes = [];
  for (const { id, entry } of preCommit) {
    const options = { cwd: clone, env: variables, extendEnv: false, reject: false } as const;
    const [program = '', ...args] = entry.split(' ');
    const { exitCode } = await execa(program, args, options);
    codes.push([id, exitCode] as const);
  }
  return Object.fromEntries(codes);
}
