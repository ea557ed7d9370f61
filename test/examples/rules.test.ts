import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Config } from '../../src/config/config.js';
import { loadSettingsFile } from '../../src/config/settings/settings.js';
import { fireBeforeToolHook } from '../../src/core/coreToolHookTriggers.js';
import { readDocument } from '../docs/markdown.js';
import { EXAMPLES } from './scenario.js';

// Policies of others, written anew as rules. What they do is in `calls.json` of each: a text is a shell command.

type Call = string | { readonly tool: string; readonly input: Record<string, unknown> };
type Verdict = 'deny' | 'ask' | 'pass';

const FOLDER = path.join(EXAMPLES, 'rules');
const policies = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** Files that calls name by wildcards, or by their directory. */
const FILES = [
  '.git/hooks/pre-commit',
  'Dockerfile',
  'db/migrations/0001.sql',
  'notes.txt',
  '.env',
];

describe.each(policies)('the policy %s', (name) => {
  const settingsFile = path.join(FOLDER, name, 'settings.json');
  const calls = JSON.parse(readFileSync(path.join(FOLDER, name, 'calls.json'), 'utf8')) as Partial<
    Record<Verdict, Call[]>
  >;
  const table = Object.entries(calls).flatMap(([verdict, list]) =>
    list.map((call) => [verdict, call] as const),
  );
  const decided = new Map<Call, Awaited<ReturnType<typeof decide>>>();
  let workingDir = '';
  let rules: readonly (string | undefined)[] = [];
  let problems: readonly object[] = [];

  beforeAll(async () => {
    workingDir = mkdtempSync(path.join(tmpdir(), 'hookstack-test-'));
    for (const file of FILES) {
      mkdirSync(path.dirname(path.join(workingDir, file)), { recursive: true });
      writeFileSync(path.join(workingDir, file), '');
    }
    const loaded = await loadSettingsFile(settingsFile);
    problems = loaded.problems;
    const groups = Object.values(loaded.settings.hooks).flat();
    rules = groups.flatMap(({ hooks }) => hooks.map((hook) => hook.name));
    const config = new Config({ ...loaded.settings, workingDir });
    for (const [, call] of table) decided.set(call, await decide(config, call));
  });

  afterAll(() => rmSync(workingDir, { recursive: true }));

  it.each(table)('%s: %j', (verdict, call) => {
    expect(decided.get(call)?.decision).toBe(verdict);
  });

  it('has no rule without which all would be the same, and nothing that is wrong', () => {
    expect(problems).toEqual([]);
    const alone = [...decided.values()].filter(({ deciders }) => deciders.length === 1);
    expect(new Set(alone.flatMap(({ deciders }) => deciders))).toEqual(new Set(rules));
  });

  it('has as many lines as docs/rules.md says', async () => {
    const lines = readFileSync(settingsFile, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '');
    const page = await readDocument('docs/rules.md');
    const [row] = page.match(new RegExp(`^\\| .*${name}.*$`, 'm')) ?? [];
    expect(row).toMatch(new RegExp(`\\| ${lines.length} +\\|$`));
  });
});

/** What the rules say together, and which of them say that. */
async function decide(config: Config, call: Call) {
  const { tool, input } =
    typeof call === 'string' ? { tool: 'run_shell_command', input: { command: call } } : call;
  const said: (readonly [name: string | undefined, decision: string | null | undefined])[] = [];
  const output = await fireBeforeToolHook(config, tool, input, {
    onHooks: (_event, { results }) => {
      said.push(...results.map((each) => [each.hookConfig.name, each.output?.decision] as const));
    },
  });
  const decision = output?.decision ?? 'pass';
  const deciders = said.filter(([, own]) => own === decision).map(([rule]) => rule);
  return { decision, deciders };
}
