import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect } from 'vitest';
import type { CommandHookConfig } from '../../src/protocol/types.js';
import { hook } from '../helpers/hooks.js';
import { fault, type Host } from './helpers/host.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

const JAVASCRIPT = `
import { Block, defineHook } from 'hookstack/author';

const actions = {
  nothing: () => undefined,
  deny: () => ({ decision: 'deny', reason: 'no' }),
  block: () => { throw new Block('not today'); },
  change: () => ({ hookSpecificOutput: { tool_input: { changed: true } } }),
  stop: () => ({ continue: false, stopReason: 'enough' }),
  fail: () => { throw new Error('no rules'); },
  text: () => 'blocked',
  exit: () => { console.log('as I say'); process.exit(2); },
  code: () => { console.log('as I say'); process.exitCode = 2; },
  crash: () => new Promise(() => { setImmediate(() => { throw new Error('too late'); }); }),
  hang: () => new Promise(() => { setInterval(() => {}, 1000); }),
};

defineHook('BeforeTool', ({ tool_input }) => actions[tool_input.do]());
`;

const PYTHON = `
import os, sys, time
from hookstack import Block, define_hook


def act(event):
    what = event["tool_input"]["do"]
    if what == "deny":
        return {"decision": "deny", "reason": "no"}
    if what == "block":
        raise Block("not today")
    if what == "change":
        return {"hookSpecificOutput": {"tool_input": {"changed": True}}}
    if what == "stop":
        return {"continue": False, "stopReason": "enough"}
    if what == "fail":
        raise ValueError("no rules")
    if what == "text":
        return "blocked"
    if what in ("exit", "code"):
        print("as I say")
        sys.exit(2)
    if what == "crash":
        os._exit(3)
    if what == "hang":
        time.sleep(60)


define_hook("BeforeTool", act)
`;

const ACTIONS = 'nothing deny block change stop fail text exit code'.split(' ');

/** Writes both scripts; returns the words that start one. */
async function writeScript(host: Host, language: string): Promise<readonly [string, string]> {
  const { directory } = host;
  await mkdir(path.join(directory, 'node_modules'));
  await symlink(ROOT, path.join(directory, 'node_modules/hookstack'));
  await copyFile(path.join(ROOT, 'python/hookstack.py'), path.join(directory, 'hookstack.py'));
  const isPython = language === 'Python';
  const script = path.join(directory, isPython ? 'act.py' : 'act.mjs');
  await writeFile(script, isPython ? PYTHON : JAVASCRIPT);
  return [isPython ? 'python3' : process.execPath, script];
}

async function open(host: Host, language: string, settings: Partial<CommandHookConfig> = {}) {
  const [program, script] = await writeScript(host, language);
  const guard = hook(program, { args: [script], name: 'act', onFailure: 'deny', ...settings });
  const act = async (persistent: boolean) => {
    const config = host.createConfig({
      hooks: { BeforeTool: [{ hooks: [{ ...guard, persistent }] }] },
    });
    return (what: string) => host.callToolOf(config, { toolInput: { do: what } });
  };
  return { ordinary: await act(false), persistent: await act(true) };
}

describe.each(['JavaScript', 'Python'])('a persistent hook in %s', (language) => {
  fault(
    'means what it means as a process for each event',
    { timeout: 60_000 },
    async ({ host }) => {
      const { ordinary, persistent } = await open(host, language);
      for (const what of ACTIONS) {
        const before = host.warnings.length;
        const { answerMs: _, hooks, ...expected } = await ordinary(what);
        const between = host.warnings.length;
        const { answerMs: __, hooks: kept, ...answer } = await persistent(what);
        expect(answer, what).toEqual(expected);
        expect(kept[0]?.exitCode, what).toBe(hooks[0]?.exitCode);
        expect(kept[0]?.output, what).toEqual(hooks[0]?.output);
        expect(host.warnings.slice(between), what).toEqual(host.warnings.slice(before, between));
      }
      expect(host.warnings).not.toEqual([]);
    },
  );

  fault('may end itself to block, as often as it likes', async ({ host }) => {
    const { persistent } = await open(host, language);
    for (let index = 0; index < 8; index++) {
      expect(await persistent('exit')).toMatchObject({ verdict: 'blocked', text: 'as I say' });
    }
    expect(host.warnings).toEqual([]);
  });

  fault('is started anew after a crash and after a hang', { timeout: 30_000 }, async ({ host }) => {
    const { persistent } = await open(host, language, { timeout: 1500 });
    for (const what of ['crash', 'hang']) {
      expect(await persistent('deny')).toMatchObject({ verdict: 'blocked', text: 'no' });
      expect(await persistent(what)).toMatchObject({ verdict: 'blocked' });
      expect(await persistent('nothing')).toMatchObject({ verdict: 'allowed' });
    }
  });

  fault('answers in a fraction of what its start takes', async ({ host }) => {
    const { ordinary, persistent } = await open(host, language);
    const { answerMs: startMs } = await ordinary('nothing');
    await persistent('nothing');
    const times: number[] = [];
    for (let index = 0; index < 50; index++) times.push((await persistent('nothing')).answerMs);
    const median = times.toSorted((a, b) => a - b)[25] ?? Infinity;
    host.measure('a kept hook', median * 1000, 'µs');
    expect(median).toBeLessThan(startMs / 5);
  });
});
