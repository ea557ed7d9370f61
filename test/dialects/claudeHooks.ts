import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { loadSettings } from '../../src/config/settings/settings.js';
import { runAgent, type AgentOptions } from '../../src/agent/agent.js';
import { referenceTools } from '../../src/agent/tools/referenceTools.js';
import { callTools, reply, type RecordedAnswer } from '../core/helpers/modelAnswers.js';
import type { Sandbox } from '../core/helpers/sandbox.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

const SCRIPTS = path.join(import.meta.dirname, '../fixtures/claudeHooks');

/** How settings for Claude Code name a script of their project. */
export function script(name: string): { type: 'command'; command: string; timeout: number } {
  return { type: 'command', command: `"$CLAUDE_PROJECT_DIR"/.claude/hooks/${name}`, timeout: 20 };
}

/** Puts the scripts of a project of Claude Code, unchanged, and these hooks into the sandbox. */
export async function openProject(
  sandbox: Sandbox,
  hooks: object,
  options: Partial<ConfigOptions> = {},
) {
  const { workingDir } = sandbox;
  cpSync(SCRIPTS, path.join(workingDir, '.claude/hooks'), { recursive: true });
  const settings = path.join(workingDir, '.llxprt/settings.json');
  mkdirSync(path.dirname(settings), { recursive: true });
  writeFileSync(settings, JSON.stringify({ enableHooks: true, hooks }), { mode: 0o644 });
  const nowhere = path.join(workingDir, 'nowhere');
  const loaded = await loadSettings({
    workingDir,
    home: nowhere,
    systemPath: nowhere,
    trustProject: true,
  });
  const logger = new RecordingLogger();
  const config = new Config({
    trustedFolder: true,
    ...loaded.settings,
    workingDir,
    sessionId: 'session',
    debugLogger: logger,
    ...options,
  });
  return { config, logger, problems: loaded.problems };
}

/** Runs an agent whose model calls one tool, reads what came of it, and says that it is done. */
export async function runWithHooks(
  sandbox: Sandbox,
  hooks: object,
  call: { name: string; args: Record<string, unknown> },
  prompt = 'Do it.',
) {
  const answers = [callTools({ id: 'call-1', ...call }), reply('Done.'), reply('Tested.')];
  const run = await runAnswers(sandbox, hooks, answers, { prompt });
  const toolResponse = run.sent[1]?.contents.at(-1)?.parts?.[0]?.functionResponse?.response;
  return { ...run, toolResponse };
}

/** Runs an agent whose model gives these answers. */
export async function runAnswers(
  sandbox: Sandbox,
  hooks: object,
  answers: readonly RecordedAnswer[],
  options: Partial<AgentOptions> = {},
  configOptions: Partial<ConfigOptions> = {},
) {
  const project = await openProject(sandbox, hooks, configOptions);
  const { models, sent } = await sandbox.startModel(...answers);
  const result = await runAgent({
    config: project.config,
    models,
    model: 'gemini-2.5-flash',
    prompt: 'Do it.',
    tools: referenceTools,
    ...options,
  });
  return { ...project, result, sent: sent() };
}
