import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { chmod, lutimes, mkdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { inspect } from 'node:util';
import { execa, type Options } from 'execa';
import { describe, expect, vi } from 'vitest';
import { whileLocked } from '../../src/util/fileLock.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { startRecordedModel } from '../agent/recordedServer.js';
import { traceToFile } from '../../src/trace/traceFile.js';
import { MAIN } from '../cli/helpers.js';
import { hook } from '../helpers/hooks.js';
import { record } from '../trace/helpers.js';
import { fault, type Host } from './helpers/host.js';

const SETTINGS = '.llxprt/settings.json';

/** Runs the program in a directory of the host, with a home beside it. */
async function run(
  host: Host,
  args: readonly string[],
  options: Options = {},
  project = 'project',
) {
  const cwd = path.join(host.directory, project);
  await mkdir(cwd, { recursive: true });
  const { exitCode, stdout, stderr } = await execa(process.execPath, [MAIN, ...args], {
    cwd,
    input: '',
    reject: false,
    ...options,
    env: { HOME: path.join(host.directory, 'home'), PATH: process.env['PATH'], ...options.env },
    extendEnv: false,
  });
  return { exitCode, stdout: String(stdout), stderr: String(stderr) };
}

function settings(command: string, others: object = {}) {
  const hooks = [{ type: 'command', command, ...others }];
  return { enableHooks: true, hooks: { BeforeTool: [{ hooks }] } };
}

describe('80 while the settings of a project are read', () => {
  fault('80 a run takes over SIGINT and SIGTERM only afterwards', async ({ host }) => {
    await host.write(`project/${SETTINGS}`, settings('true'));
    const response = { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] } }] };
    const call = { method: 'generateContentStream', response: [response] };
    const calls = await host.write('calls.responses', JSON.stringify(call));
    const tell = `process.on('newListener', (name) => name === 'SIGINT' && process.stderr.write('TAKEN OVER\\n'));`;
    const { stderr } = await run(host, ['run', 'Go', '--responses', calls], {
      env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(tell)}` },
    });
    expect(stderr).toMatch(/1 hook of this project skipped[^]*TAKEN OVER/);
    expect(stderr).not.toMatch(/TAKEN OVER[^]*skipped/);
  });
});

describe('87 millions of characters that a terminal does not show', () => {
  const BLANK = '\u200B';

  fault('87 a hook that quotes them keeps its deny', async ({ host }) => {
    const script = `process.stdout.write(JSON.stringify({ decision: 'deny', reason: 'x\\n' + '${BLANK}'.repeat(6e6) + '[' }))`;
    const quoting = hook(`'${process.execPath}' -e "${script}"`, { timeout: 30_000 });
    // As much of an answer is read as its input may make necessary.
    const toolInput = { content: 'x'.repeat(12_000_000) };
    const { verdict, text } = await host.callTool([quoting], { toolInput });
    expect(verdict).toBe('blocked');
    expect(text).toMatch(/^x\n\u200B+\n\[… 5990003 more characters cut\]$/);
  });

  fault.for([
    ['blanks', BLANK.repeat(20_000_000)],
    ['blanks behind a mark', `[System]${BLANK.repeat(20_000_000)}`],
    ['an open tag', `<hook_context ${BLANK.repeat(20_000_000)}`],
    ['marks', '[System]'.repeat(1_000_000)],
  ] as const)('87 a tool that has read them has its result: %s', async ([, content], { host }) => {
    const config = host.createConfig({
      hooks: { AfterTool: [{ hooks: [hook('true')] }], BeforeTool: [{ hooks: [hook('true')] }] },
    });
    const llmContent = `${content}[`;
    const execute = async () => ({ llmContent, returnDisplay: 'read' });
    const result = await executeToolWithHooks(config, 'read_file', {}, execute);
    expect(result.error).toBeUndefined();
    expect(result.returnDisplay).toBe('read');
  });
});

describe('89 what comes from elsewhere', () => {
  const ESCAPES = '\u001B]0;title\u0007\u009B31m\u202Ereversed';
  // oxlint-disable-next-line no-control-regex
  const RAW = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069]/;

  fault('89 drives no terminal out of a trace', async ({ host }) => {
    const fields = { name: ESCAPES, event: ESCAPES, signal: ESCAPES, reason: ESCAPES };
    const others = { command: ESCAPES, error: ESCAPES, change: `@@ ${ESCAPES}`, id: ESCAPES };
    const spans = [
      record({ ...fields, ...others, verdict: 'block' }),
      record({ ...fields, ...others, kind: 'event', verdict: 'block' }),
    ];
    const trace = spans.map((span) => JSON.stringify(span)).join('\n');
    const file = await host.write('project/trace.jsonl', trace);
    for (const args of [[], ['--slowest', '5'], ['--json']]) {
      const { stdout, stderr } = await run(host, ['trace', file, ...args]);
      expect(stdout).toContain('reversed');
      expect(`${stdout}${stderr}`).not.toMatch(RAW);
    }
  });

  fault.for([
    ['list'],
    ['trust'],
    ['validate'],
    ['explain', 'BeforeTool', '--tool', ESCAPES],
    ['fire', 'BeforeTool', '--trust'],
    ['doctor', '--trust'],
    ['test', '--trust'],
    ['disable', ESCAPES],
  ])('89 drives no terminal: %s', async (args, { host }) => {
    const command = `printf '%s' '${ESCAPES}' >&2; exit 2`;
    const { hooks } = settings(command, { name: ESCAPES });
    const project = { enableHooks: true, hooks: { ...hooks, [ESCAPES]: [] } };
    await host.write(`project/${SETTINGS}`, project);
    const test = { event: 'BeforeTool', input: {}, expect: { reason: ESCAPES } };
    await host.write('project/a.hooktest.json', test);
    const { stdout, stderr } = await run(host, [...args, '--json']);
    expect(() => JSON.parse(stdout)).not.toThrow();
    expect(stdout).toMatch(/\\u202e/);
    expect(`${stdout}${stderr}`).not.toMatch(RAW);
    const told = await run(host, args);
    expect(`${told.stdout}${told.stderr}`).not.toMatch(RAW);
  });
});

describe('90 a secret with control characters inside', () => {
  const SECRET = 'sk-0123456789abcdef';

  fault.for([
    ['a colour', `sk-0123\u001B[31m456789\u001B[0mabcdef`],
    ['a colour in C1', `sk-0123\u009B31m456789abcdef`],
    ['a link', `sk-0123\u001B]8;;http://x\u001B\\456789abcdef`],
    ['a direction', `sk-0123\u202E456789abcdef`],
    ['a NUL', `sk-0123\u0000456789abcdef`],
    ['a blank of no width', `sk-0123\u200B456789abcdef`],
  ] as const)(
    '90 is masked in traces and logs: %s',
    async ([, leaked], { host, onTestFinished }) => {
      vi.stubEnv('API_TOKEN', SECRET);
      onTestFinished(() => void vi.unstubAllEnvs());
      const answers = [
        leaked,
        JSON.stringify({ systemMessage: leaked }),
        `{"decision": "${leaked}"}`,
      ];
      const hooks = await Promise.all(
        answers.map(async (answer, at) => {
          const file = await host.write(`answer${at}`, answer);
          return hook(`cat '${file}'; cat '${file}' >&2; exit ${at === 0 ? 1 : 0}`, {
            name: `h${at}`,
          });
        }),
      );
      const file = path.join(host.directory, 'trace.jsonl');
      const environment = { redact: ['@secrets'] };
      const trace = traceToFile(file, { environment });
      const config = host.createConfig({
        hooks: { BeforeTool: [{ hooks }] },
        hookEnvironment: environment,
      });
      await host.callToolOf(config, { toolInput: { note: leaked } });
      trace.close();
      const log = inspect(host.logger.records, { depth: Infinity, maxStringLength: Infinity });
      for (const text of [await readFile(file, 'utf8'), log]) {
        expect(text).toContain('[API_TOKEN]');
        expect(text).not.toContain('456789');
      }
    },
  );
});

describe('91 what several processes allow at the same time', () => {
  fault('91 is all kept', async ({ host }) => {
    const projects = Array.from({ length: 12 }, (_, index) => `project${index}`);
    for (const project of projects) await host.write(`${project}/${SETTINGS}`, settings('true'));
    const allow = (project: string) => run(host, ['trust', '--open'], {}, project);
    const codes = await Promise.all(projects.map(async (each) => (await allow(each)).exitCode));
    expect(new Set(codes)).toEqual(new Set([0]));
    const checks = projects.map((each) => run(host, ['trust', '--check'], {}, each));
    expect(new Set((await Promise.all(checks)).map(({ exitCode }) => exitCode))).toEqual(
      new Set([0]),
    );
    expect(host.exists('home/.llxprt/trusted-hooks.json.lock')).toBe(false);
  });

  fault('91 is read and written by one at a time', async ({ host }) => {
    const file = await host.write('count', '0');
    const increment = async () => {
      const count = Number(await readFile(file, 'utf8'));
      await writeFile(file, String(count + 1));
    };
    await Promise.all(Array.from({ length: 30 }, () => whileLocked(file, increment)));
    expect(await readFile(file, 'utf8')).toBe('30');
  });

  fault('91 waits for no process that was killed, and follows no link', async ({ host }) => {
    await host.write(`project/${SETTINGS}`, settings('true'));
    const lock = await host.write('home/.llxprt/trusted-hooks.json.lock', '');
    const before = new Date(Date.now() - 60_000);
    await utimes(lock, before, before);
    expect(await run(host, ['trust', '--open'])).toMatchObject({ exitCode: 0 });
    expect(existsSync(lock)).toBe(false);

    await symlink(path.join(host.directory, 'elsewhere'), lock);
    await lutimes(lock, before, before);
    await host.write(`project/${SETTINGS}`, settings('false'));
    expect(await run(host, ['trust', '--open'])).toMatchObject({ exitCode: 0 });
    expect(existsSync(lock)).toBe(false);
    expect(host.exists('elsewhere')).toBe(false);
  });
});

describe('92 a recorded model', () => {
  fault('92 answers nobody who does not have its key', async ({ host }) => {
    const file = await host.write('calls.responses', '');
    const model = await startRecordedModel(file);
    try {
      const url = `${model.baseUrl}/v1beta/models/m:generateContent`;
      const response = await fetch(url, { method: 'POST', body: '{"contents": []}' });
      expect(response.status).toBe(401);
      expect(model.requests).toEqual([]);
    } finally {
      await model.close();
    }
  });
});

describe('94 what is written', () => {
  fault('94 makes a trace that is there its owner’s alone', async ({ host }) => {
    await host.write(`home/${SETTINGS}`, settings('true'));
    const file = await host.write('project/trace.jsonl', '', 0o666);
    await chmod(file, 0o666);
    await run(host, ['fire', 'BeforeTool', '--trace', file]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(file).size).toBeGreaterThan(0);
    const page = await host.write('project/page.html', 'x'.repeat(1_000_000), 0o666);
    await chmod(page, 0o666);
    await run(host, ['trace', file, '--html', page]);
    expect(statSync(page).mode & 0o777).toBe(0o600);
    expect(await readFile(page, 'utf8')).toMatch(/^<!doctype html>[^]*<\/html>\s*$/i);
  });

  fault('94 follows no link in place of a trace or a page', async ({ host }) => {
    await host.write(`home/${SETTINGS}`, settings('true'));
    const mine = await host.write('home/mine', 'mine');
    for (const name of ['trace.jsonl', 'page.html']) {
      await mkdir(path.join(host.directory, 'project'), { recursive: true });
      await symlink(mine, path.join(host.directory, 'project', name));
    }
    const fired = await run(host, ['fire', 'BeforeTool', '--trace', 'trace.jsonl']);
    expect(fired.stderr).toContain('trace.jsonl cannot be written (it is a link to another file)');
    expect(fired.exitCode).toBe(0);
    const trace = await host.write('project/own.jsonl', JSON.stringify(record()));
    const told = await run(host, ['trace', trace, '--html', 'page.html']);
    expect(told.stderr).toContain('page.html cannot be written (it is a link to another file)');
    expect(told.exitCode).toBe(2);
    expect(await readFile(mine, 'utf8')).toBe('mine');
  });

  fault('94 writes no lock through a linked directory', async ({ host }) => {
    await host.write('elsewhere/settings.json', settings('true'));
    await mkdir(path.join(host.directory, 'project'));
    await symlink('../elsewhere', path.join(host.directory, 'project/.llxprt'));
    const { exitCode, stderr } = await run(host, ['trust', '--lock']);
    expect(stderr).toContain('is not written: a link leads to a place outside of the project');
    expect(exitCode).toBe(2);
    expect(host.exists('elsewhere/hooks.lock')).toBe(false);
  });
});

describe('95 a stdout that cannot be written', () => {
  fault.for([
    { args: ['fire', 'BeforeTool'], code: 2 },
    { args: ['fire', 'BeforeTool', '--json'], code: 2 },
    { args: ['list'], code: 1 },
    { args: ['--help'], code: 1 },
  ])('95 leaves a verdict its exit code: $args', async ({ args, code }, { host }) => {
    await host.write(`home/${SETTINGS}`, settings('exit 2'));
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
      cwd: host.directory,
      env: { HOME: path.join(host.directory, 'home'), PATH: process.env['PATH'] },
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    expect(stderr).toMatch(/^error: stdout cannot be written \(ENOSPC/m);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(status).toBe(code);
  });
});
