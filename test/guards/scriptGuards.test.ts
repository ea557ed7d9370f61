import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { auditLog } from '../../src/cli/add/guards/auditLog.js';
import { budget } from '../../src/cli/add/guards/budget.js';
import { formatAfterEdit } from '../../src/cli/add/guards/formatAfterEdit.js';
import { describeFiring } from '../../src/cli/shared/fireReport.js';
import type { Config } from '../../src/config/config.js';
import { fireHook } from '../../src/hooks/fireHook.js';
import { HookEventName, type HookPayload } from '../../src/protocol/types.js';
import { useTempDir } from '../helpers/tempDir.js';
import * as written from './calls/auditLog.js';
import * as counted from './calls/budget.js';
import * as edits from './calls/formatAfterEdit.js';
import type { Edit } from './calls/formatAfterEdit.js';
import type { Fired } from './calls/otherEvents.js';
import { guardConfig } from './guardConfig.js';

const temp = useTempDir();
const project = () => join(temp.path, 'project');

beforeEach(async () => {
  await mkdir(project());
  vi.stubEnv('HOME', temp.path);
});

/** How the hooks of guards are started, of whose scripts one is of this name. */
function commandOf(name: string): string {
  const script = fileURLToPath(new URL(`../../src/cli/add/scripts/${name}.mjs`, import.meta.url));
  return `"${process.execPath}" "${script}"`;
}

/** What is said of an event; each in a session of its own, where none is given. */
async function fire(config: Config, [event, payload]: Fired, sessionId: string) {
  const given = payload as HookPayload<typeof event>;
  const report = describeFiring(
    event,
    await fireHook(config, event, given, { session: { sessionId } }),
  );
  return { ...report, failed: report.results.filter(({ success }) => !success) };
}

/** What is made of each, a few at a time, as each takes a process. */
async function mapSome<T, R>(items: readonly T[], make: (item: T, at: number) => Promise<R>) {
  const made: R[] = [];
  const entries = items.entries();
  const work = async () => {
    for (const [at, item] of entries) made[at] = await make(item, at);
  };
  await Promise.all(Array.from({ length: availableParallelism() + 1 }, work));
  return made;
}

describe('format-after-edit', () => {
  const FORMATTER = '#!/bin/sh\nfor f; do :; done\ntr A b < "$f" > "$f.new"; mv "$f.new" "$f"\n';

  /** The calls after which the file was, or was not, formatted, and what the model was told. */
  async function told(calls: readonly Edit[]) {
    return mapSome(calls, async ([name, tool, input], at) => {
      const folder = join(temp.path, String(at), 'project');
      await makeProject(folder);
      const file = join(folder, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, 'A');
      const toolInput = JSON.parse(
        JSON.stringify(input).replaceAll('PROJECT', folder),
      ) as typeof input;
      const toolResponse = { llmContent: 'ok', returnDisplay: 'ok' };
      const config = guardConfig(formatAfterEdit, folder, {
        command: commandOf('format-after-edit'),
      });
      const payload = { toolName: tool, toolInput, toolResponse };
      const { failed, hookSpecificOutput } = await fire(
        config,
        [HookEventName.AfterTool, payload],
        's',
      );
      const { additionalContext: text = '' } = hookSpecificOutput ?? {};
      const isFormatted = (await readFile(file, 'utf8')) === 'b';
      return { call: JSON.stringify([name, tool, input]), isFormatted, text, failed };
    });
  }

  async function makeProject(folder: string): Promise<void> {
    const programs = join(folder, 'node_modules/.bin');
    await mkdir(programs, { recursive: true });
    await mkdir(join(folder, 'src'));
    await mkdir(join(folder, '../other'));
    for (const program of ['prettier', 'ruff', 'gofmt', 'rustfmt']) {
      await writeFile(join(programs, program), FORMATTER, { mode: 0o755 });
    }
    await symlink('src', join(folder, 'src-link'));
    await symlink('../other', join(folder, 'other-link'));
    await symlink('../other/a.ts', join(folder, 'link.ts'));
  }

  it('formats what any tool of any agent has written, and tells the model', async () => {
    expect(edits.stop.length).toBeGreaterThanOrEqual(50);
    const wrong = (await told(edits.stop)).filter(
      ({ isFormatted, text, failed }) =>
        !isFormatted || failed.length > 0 || !String(text).includes(' has formatted '),
    );
    expect(wrong).toEqual([]);
  });

  it('changes nothing else, and says nothing of it', async () => {
    expect(edits.pass.length).toBeGreaterThanOrEqual(50);
    const wrong = (await told(edits.pass)).filter(
      ({ isFormatted, text, failed }) => isFormatted || failed.length > 0 || text !== '',
    );
    expect(wrong).toEqual([]);
  });
});

const auditing = () => guardConfig(auditLog, project(), { command: commandOf('audit-log') });
const log = () => join(temp.path, '.llxprt/audit.jsonl');

describe('audit-log', () => {
  it('writes each call of any tool of any agent once, as it was', async () => {
    expect(written.stop.length).toBeGreaterThanOrEqual(50);
    const host = auditing();
    const fired = await mapSome(written.stop, ([toolName, toolInput], at) =>
      fire(host, [HookEventName.BeforeTool, { toolName, toolInput }], String(at)),
    );
    expect(fired.filter(({ failed, proceed }) => failed.length > 0 || !proceed)).toEqual([]);
    const entries = (await readFile(log(), 'utf8')).trimEnd().split('\n');
    const seen = new Map(
      entries.map((line) => {
        const { session, tool, input } = JSON.parse(line) as Record<string, unknown>;
        return [session, [tool, input]];
      }),
    );
    expect(entries).toHaveLength(written.stop.length);
    expect(written.stop.map((_call, at) => seen.get(String(at)))).toEqual(written.stop);
  });

  it('writes nothing of what is no call', async () => {
    expect(written.pass.length).toBeGreaterThanOrEqual(50);
    const host = auditing();
    await mapSome(written.pass, (event) => fire(host, event, 's'));
    await expect(stat(log())).rejects.toThrow('ENOENT');
  });
});

describe('budget', () => {
  const NONE = { HOOK_BUDGET_CALLS: '0', HOOK_BUDGET_TOKENS: '0', HOOK_BUDGET_SECONDS: '900' };
  const config = () => guardConfig(budget, project(), { command: commandOf('budget'), env: NONE });

  it('counts each call of any tool of any agent, and what answers took', async () => {
    expect(counted.stop.length).toBeGreaterThanOrEqual(50);
    const host = config();
    const fired = await mapSome(counted.stop, async ([event, payload], at) => {
      const { stopped, stopReason } = await fire(host, [event, payload], String(at));
      return stopped ? stopReason : 'goes on';
    });
    expect(fired).toEqual(
      counted.stop.map(([, , used]) => expect.stringContaining(` ${used}.`) as unknown),
    );
  });

  it('counts nothing else', async () => {
    expect(counted.pass.length).toBeGreaterThanOrEqual(50);
    const host = config();
    const fired = await mapSome(counted.pass, async (event) => {
      const { failed, proceed } = await fire(host, event, 'one session');
      return failed.length === 0 && proceed;
    });
    expect(counted.pass.filter((_event, at) => !fired[at])).toEqual([]);
  });
});
