// Installs the packed package into an empty project, once for each version of the SDK given, and uses it there as a
// host would: the types must check and the stacks must run. With "none" there is no SDK: the package must be small,
// and work in bundles and on the command line as well. Usage: node consumer.mjs VERSION…
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { DENYING_SETTINGS, OWN_HOST, RECORDED_CALL, SDK_HOST } from './hosts.mjs';

/**
 * What an installation may take of a disk, in blocks. Rules and their reader of commands take 500: once for hosts, and once in
 * a file that `hookstack hook` loads, as that loads nothing of what hosts do.
 */
const MAX_INSTALLED_KB = 6800;

/** What an uncaught error may print, in characters: some screens would be a line of code that nobody can read. */
const MAX_ERROR = 1200;

/** Adapters that cannot be loaded without their host. */
const HOSTS = { adk: '@google/adk', langchain: 'langchain' };

const root = fileURLToPath(new URL('../..', import.meta.url));
const typescript = path.join(root, 'node_modules/typescript/bin/tsc');
const directory = mkdtempSync(path.join(tmpdir(), 'consumer-'));

const run = (cwd, file, ...args) => execFileSync(file, args, { cwd, stdio: 'inherit' });
const install = (project, ...packages) =>
  run(project, 'npm', 'install', '--silent', '--no-audit', '--no-fund', ...packages);

function newProject(files) {
  const project = mkdtempSync(path.join(directory, 'project-'));
  writeFileSync(path.join(project, 'package.json'), '{ "type": "module", "private": true }');
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
    writeFileSync(path.join(project, name), content, { mode: 0o644 });
  }
  return project;
}

/** @param skipLibCheck whether declarations of packages go unchecked */
function tsconfig(skipLibCheck) {
  const target = { target: 'es2023', lib: ['es2023', 'dom'], module: 'nodenext', types: ['node'] };
  const compilerOptions = { ...target, strict: true, outDir: 'out', skipLibCheck };
  return JSON.stringify({ compilerOptions, files: ['host.ts'] });
}

function checkWithSdk(tarball, version) {
  const project = newProject({
    // Whether the SDK's own declarations are in order is not for this package to say.
    'tsconfig.json': tsconfig(true),
    'host.ts': SDK_HOST,
    'hello.responses': JSON.stringify(RECORDED_CALL),
  });
  install(project, tarball, `@google/genai@${version}`, '@types/node@20');
  run(project, process.execPath, typescript, '-p', '.');
  run(project, process.execPath, 'out/host.js', 'hello.responses');
  console.log(`consumer with @google/genai ${version}: types check, stacks run`);
}

async function checkWithoutSdk(tarball) {
  const project = newProject({
    'tsconfig.json': tsconfig(false),
    'host.ts': OWN_HOST,
    'hello.responses': JSON.stringify(RECORDED_CALL),
    'home/.llxprt/settings.json': DENYING_SETTINGS,
  });
  install(project, tarball);
  checkSize(project);
  checkCommands(project);
  checkError(project);
  checkMissingHosts(project);
  for (const version of ['20', 'latest']) {
    install(project, `@types/node@${version}`);
    run(project, process.execPath, typescript, '-p', '.');
  }
  run(project, process.execPath, 'out/host.js');
  await checkBundles(project);
  console.log('consumer without the SDK: small, types check, stacks and commands run, bundles too');
}

function checkSize(project) {
  const blocks = execFileSync('du', ['-sk', 'node_modules'], { cwd: project, encoding: 'utf8' });
  const size = Number.parseInt(blocks, 10);
  console.log(`npm install hookstack: ${size} kB on disk`);
  if (size < MAX_INSTALLED_KB) return;
  run(project, 'sh', '-c', 'du -sk node_modules/* | sort -n | tail -n 10');
  throw new Error(`node_modules takes ${size} kB; the limit is ${MAX_INSTALLED_KB}`);
}

function checkCommands(project) {
  const cli = path.join(project, 'node_modules/.bin/hookstack');
  const home = path.join(project, 'empty-home');
  const hookstack = (...args) =>
    spawnSync(cli, args, {
      cwd: project,
      encoding: 'utf8',
      env: { ...process.env, HOME: home, NODE_PATH: '', GEMINI_API_KEY: 'none' },
    });
  const expectCode = (code, ...args) => {
    const { status, stdout, stderr } = hookstack(...args);
    if (status === code) return stdout + stderr;
    throw new Error(`hookstack ${args.join(' ')}: exit code ${status}\n${stdout}${stderr}`);
  };
  mkdirSync(home);
  expectCode(0, 'init');
  expectCode(0, 'trust', '--yes');
  expectCode(0, 'list');
  expectCode(0, 'validate');
  expectCode(0, 'test');
  expectCode(0, 'doctor');
  expectCode(2, 'fire', 'BeforeTool', '--tool', 'write_file', '--input', '{"file_path":".env"}');
  const answer = expectCode(0, 'run', '--responses', 'hello.responses', 'Hello');
  if (!answer.includes('Hello yourself')) throw new Error(`run does not answer: ${answer}`);
  const said = expectCode(2, 'run', 'Hello');
  if (!said.includes('npm install @google/genai')) throw new Error(`run does not help: ${said}`);
}

const printedBy = (project, ...args) =>
  spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' }).stderr;

/** What is uncaught can be read, and leads to the sources where the host wants it. */
function checkError(project) {
  const misspelt = `import { Config } from 'hookstack';\nnew Config({ enabelHooks: true });`;
  const code = ['--input-type=module', '--eval', misspelt];
  const printed = printedBy(project, ...code);
  if (!printed.includes('did you mean "enableHooks"?') || printed.length > MAX_ERROR) {
    throw new Error(
      `an uncaught error prints ${printed.length} characters: ${printed.slice(0, 300)}`,
    );
  }
  const mapped = printedBy(project, '--enable-source-maps', ...code);
  const [, file, line] = /hookstack[\\/](src[\\/]config[\\/]\w+\.ts):(\d+)/.exec(mapped) ?? [];
  const source = file && readFileSync(path.join(root, file), 'utf8').split('\n')[line - 1];
  if (!source?.includes('requireKnown(')) {
    throw new Error(`the error does not lead to the sources, but to ${source}: ${mapped}`);
  }
}

/** The project has none of them. */
function checkMissingHosts(project) {
  for (const [name, host] of Object.entries(HOSTS)) {
    const scripts = {
      import: ['--input-type=module', '--eval', `import 'hookstack/${name}'`],
      require: ['--input-type=commonjs', '--eval', `require('hookstack/${name}')`],
    };
    for (const [way, args] of Object.entries(scripts)) {
      const printed = printedBy(project, ...args);
      if (printed.includes(`hookstack/${name} needs ${host}`) && printed.includes('npm install "'))
        continue;
      throw new Error(`${way} of hookstack/${name} does not say what to install: ${printed}`);
    }
  }
}

/** A host and all that it imports in one file, run where nothing is installed. */
async function checkBundles(project) {
  install(project, 'esbuild@~0.28.2');
  const elsewhere = newProject({ 'home/.llxprt/settings.json': DENYING_SETTINGS });
  const target = ['--bundle', '--platform=node', '--log-level=error'];
  const esbuild = path.join(project, 'node_modules/.bin/esbuild');
  const outfile = path.join(elsewhere, 'esbuild.mjs');
  run(project, esbuild, 'out/host.js', ...target, '--format=esm', `--outfile=${outfile}`);
  run(elsewhere, process.execPath, outfile);
  const input = path.join(project, 'out/host.js');
  const bundle = await rolldown({ input, platform: 'node', cwd: project, logLevel: 'warn' });
  await bundle.write({ dir: path.join(elsewhere, 'rolldown'), format: 'esm' });
  run(elsewhere, process.execPath, 'rolldown/host.js');
}

try {
  run(root, 'npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', directory);
  const packed = readdirSync(directory).find((file) => file.endsWith('.tgz'));
  const tarball = path.join(directory, packed);
  for (const version of process.argv.slice(2)) {
    if (version === 'none') await checkWithoutSdk(tarball);
    else checkWithSdk(tarball, version);
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
