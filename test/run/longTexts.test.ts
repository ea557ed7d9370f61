import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readFile } from '../../src/agent/tools/fileTools.js';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import type { CommandHookConfig } from '../../src/protocol/types.js';
import { LongTexts, removeLongTexts } from '../../src/run/longTexts.js';
import { hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();
const result = { llmContent: 'ran', returnDisplay: 'ran' };
const LONG = `begin ${'x'.repeat(30_000)} end`;

let logger: RecordingLogger;
beforeEach(() => {
  logger = new RecordingLogger();
  vi.stubEnv('HOME', temp.path);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** A hook that prints a file. */
function printing(
  text: string,
  more: Partial<CommandHookConfig> = {},
  tail = '',
): CommandHookConfig {
  const file = path.join(temp.path, 'printed');
  writeFileSync(file, text);
  return hook(`cat ${file}${tail}`, more);
}

function configOf(hooks: CommandHookConfig[], options: ConfigOptions = {}): Config {
  return new Config({
    enableHooks: true,
    workingDir: temp.path,
    sessionId: '../../odd',
    debugLogger: logger,
    hooks: { BeforeTool: [{ hooks }] },
    ...options,
  });
}

/** A hook that adds a text to a tool's result. */
function adding(text: string, options: ConfigOptions = {}): Config {
  const answer = JSON.stringify({ hookSpecificOutput: { additionalContext: text } });
  return configOf([], { hooks: { AfterTool: [{ hooks: [printing(answer)] }] }, ...options });
}

async function call(config: Config): Promise<string> {
  const { llmContent } = await executeToolWithHooks(config, 'x', {}, async () => result);
  return typeof llmContent === 'string' ? llmContent : JSON.stringify(llmContent);
}

/** The file that a model is told of. */
function fileIn(text: string): string {
  const [, file = ''] = /the whole text is in the file ([^\]]+)\]/u.exec(text) ?? [];
  return file;
}

describe('a text of a hook that is too long', () => {
  it('is in a private file of the session, until the host is disposed of', async () => {
    const config = adding(LONG, { longHookTexts: 'file' });
    const said = await call(config);
    expect(said).toContain('begin xxx');
    expect(said).not.toContain('end');
    expect(said.length).toBeLessThan(2500);
    const file = fileIn(said);
    expect(readFileSync(file, 'utf8')).toBe(LONG);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    expect(path.relative(path.join(temp.path, '.llxprt/long-texts'), file)).toMatch(
      /^[0-9a-f]{32}\/[0-9a-f]{16}\.txt$/u,
    );
    await config.dispose();
    expect(existsSync(path.dirname(file))).toBe(false);
  });

  it('can be read by the tool of the agent, and nothing else can', async () => {
    const workingDir = path.join(temp.path, 'project');
    const config = adding(LONG, { longHookTexts: 'file' });
    const file = fileIn(await call(config));
    const context = { workingDir: temp.path, readable: config.readableFolders };
    expect((await readFile.execute({ file_path: file }, context)).llmContent).toContain('end');
    mkdirSync(workingDir);
    const outside = { workingDir, readable: config.readableFolders };
    expect((await readFile.execute({ file_path: file }, outside)).llmContent).toContain('end');
    const above = path.join(path.dirname(file), '../../../printed');
    expect((await readFile.execute({ file_path: above }, outside)).error).toBeDefined();
    expect((await readFile.execute({ file_path: file }, { workingDir })).error).toBeDefined();
    await config.dispose();
  });

  it.each<[string, () => CommandHookConfig]>([
    ['a reason as JSON', () => printing(JSON.stringify({ decision: 'deny', reason: LONG }))],
    ['stderr behind exit code 2', () => printing(LONG, {}, ' >&2; exit 2')],
  ])('blocks as a short one does: %s', async (_, make) => {
    const config = configOf([make()], { longHookTexts: 'file' });
    let hasRun = false;
    const { error } = await executeToolWithHooks(config, 'x', {}, async () => {
      hasRun = true;
      return result;
    });
    expect(hasRun).toBe(false);
    expect(readFileSync(fileIn(error?.message ?? ''), 'utf8')).toBe(LONG);
    await config.dispose();
  });

  it('is cut where nobody says otherwise, at the bound of the settings', async () => {
    expect(await call(adding(LONG))).toContain('20010 more characters cut');
    const short = adding(LONG, { maxHookText: 100 });
    expect(await call(short)).toContain('29910 more characters cut');
    expect(existsSync(path.join(temp.path, '.llxprt'))).toBe(false);
  });

  it('is whole where the bound is higher', async () => {
    const config = adding(LONG, { maxHookText: 40_000 });
    expect(await call(config)).toContain(LONG);
  });

  it('is cut where no file can be written, with one warning and the same verdict', async () => {
    writeFileSync(path.join(temp.path, '.llxprt'), 'no folder');
    const denies = printing(JSON.stringify({ decision: 'deny', reason: LONG }));
    const config = configOf([denies], { longHookTexts: 'file' });
    expect(await call(config)).toContain('more characters cut');
    expect(await call(config)).toContain('more characters cut');
    expect(logger.warnings).toEqual([expect.stringContaining('Long texts of hooks are cut')]);
  });

  it.each([0, -1, 1.5, '9'])('is no reason to take a bound of %s', (maxHookText) => {
    expect(() => new Config({ maxHookText: maxHookText as number })).toThrow(TypeError);
  });
});

const base = () => path.join(temp.path, '.llxprt/long-texts');
const files = () =>
  readdirSync(base(), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.txt'),
  );

function textsOf(limits = {}) {
  return new LongTexts(new Set(), (message) => logger.warn(message), {
    files: 3,
    bytes: 100_000,
    ageMs: 60_000,
    ...limits,
  });
}

describe('files of long texts', () => {
  it('are no more than so many, of all sessions: the oldest go', () => {
    const texts = textsOf();
    const said = ['a', 'b', 'c', 'd', 'e'].map((session, index) => {
      const file = fileIn(texts.shorten(`${LONG}${session}`, 100, session) ?? '');
      utimesSync(file, 1000 + index, Date.now() / 1000 - 10 + index);
      return file;
    });
    expect(said.map((file) => existsSync(file))).toEqual([false, false, true, true, true]);
    expect(readdirSync(base())).toHaveLength(3);
  });

  it('have no more than so many bytes, and none that is larger is written', () => {
    const texts = textsOf({ bytes: 70_000, files: 100 });
    for (let index = 0; index < 10; index += 1) texts.shorten(LONG, 100, 'a');
    expect(files()).toHaveLength(2);
    expect(texts.shorten('x'.repeat(80_000), 100, 'a')).toBeUndefined();
    expect(files()).toHaveLength(2);
  });

  it('go when they are old, and other files stay', () => {
    const file = fileIn(textsOf().shorten(LONG, 100, 'a') ?? '');
    const other = path.join(base(), 'other.txt');
    writeFileSync(other, 'not ours');
    utimesSync(file, 1, 1);
    utimesSync(other, 1, 1);
    textsOf().shorten(LONG, 100, 'b');
    expect(existsSync(file)).toBe(false);
    expect(existsSync(other)).toBe(true);
  });

  it('of a session go by its id, also those of another process', () => {
    const texts = textsOf();
    const [a = '', b = ''] = ['a', 'b'].map((id) => fileIn(texts.shorten(LONG, 100, id) ?? ''));
    removeLongTexts('a');
    expect([existsSync(a), existsSync(b)]).toEqual([false, true]);
  });

  it('are not written through a link, nor into a folder that others can write', () => {
    mkdirSync(path.join(temp.path, 'elsewhere'));
    mkdirSync(path.join(temp.path, '.llxprt'));
    symlinkSync(path.join(temp.path, 'elsewhere'), base());
    expect(textsOf().shorten(LONG, 100, 'a')).toBeUndefined();
    rmSync(base());
    mkdirSync(base());
    chmodSync(base(), 0o777);
    expect(textsOf().shorten(LONG, 100, 'a')).toBeUndefined();
    expect(readdirSync(path.join(temp.path, 'elsewhere'))).toEqual([]);
  });
});
