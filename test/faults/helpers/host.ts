import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { Config, type ConfigOptions } from '../../../src/config/config.js';
import { loadSettings, type LoadedSettings } from '../../../src/config/settings/settings.js';
import { executeToolWithHooks } from '../../../src/core/coreToolHookTriggers.js';
import { toParts } from '../../../src/protocol/llmContent.js';
import type {
  CommandHookConfig,
  HookDefinitions,
  HookExecutionResult,
} from '../../../src/protocol/types.js';
import { spawnerStatus } from '../../helpers/lookAtSpawner.js';
import { ToolErrorType } from '../../../src/tools/tools.js';
import { errorCode } from '../../../src/util/errorMessage.js';
import { hook } from '../../helpers/hooks.js';
import { RecordingLogger, type LogRecord } from '../../helpers/recordingLogger.js';
import { ChangingConfig } from '../../helpers/changingConfig.js';
import { findProcesses, isExpecting, kill } from './leftovers.js';

declare module 'vitest' {
  interface TaskMeta {
    /** What a test measured, by name, for the report. */
    measured?: Record<string, string>;
  }
}

/**
 * A test with a host of its own, which fails when a process of the host outlives it. With `start: 'spawner'`, its first
 * hook is started by the process that starts hooks for the host, as every later one is.
 */
export const fault = it.extend<{ start: Start; host: Host }>({
  start: 'cold',
  host: async ({ task, start }, use) => {
    const measured: Record<string, string> = {};
    task.meta.measured = measured;
    const host = await Host.open(measured);
    try {
      if (start === 'spawner') await host.warmUp();
      await use(host);
      await host.expectNoLeftovers();
    } finally {
      await host.close();
    }
  },
});

/** How hooks of a test are started. */
export const STARTS = ['cold', 'spawner'] as const;
export type Start = (typeof STARTS)[number];

/** Bounds in milliseconds are promises, yet a busy machine may break one once. */
export const TIMED = { retry: 2 };

/** One call of a tool, and how it may be ended. */
export interface ToolCallOptions {
  readonly toolName?: string;
  readonly toolInput?: Record<string, unknown>;
  readonly signal?: AbortSignal;
}

/** What a user sees of one call of a tool. */
export interface Answer {
  readonly verdict: 'allowed' | 'blocked' | 'stopped';
  /** What the model reads. */
  readonly text: string;
  /** What the tool was executed with; `undefined` when it did not run. */
  readonly input: Record<string, unknown> | undefined;
  /** Ms from the call to its result. */
  readonly answerMs: number;
  readonly hooks: readonly HookExecutionResult[];
}

/** An embedding host in a directory of its own, whose processes can be found by a mark in their environment. */
export class Host {
  /** The ids of runs begin with that of their host. */
  readonly runId = `test-${randomUUID()}`;
  readonly logger = new RecordingLogger();
  readonly #configs = new Set<Config>();
  #toleratesLeftovers = false;
  /** The run of the process that starts hooks. */
  #spawner: string | undefined;
  #start: Start = 'cold';

  static async open(measured: Record<string, string>): Promise<Host> {
    const directory = await realpath(await mkdtemp(path.join(tmpdir(), 'hookstack-fault-')));
    return new Host(directory, measured);
  }

  private constructor(
    /** Where hooks run. */
    readonly directory: string,
    private readonly measured: Record<string, string>,
  ) {
    vi.stubEnv('HOOKSTACK_RUN_ID', this.runId);
  }

  /** All warnings so far. */
  get warnings(): string[] {
    return this.logger.warnings;
  }

  /** The warnings about runs of hooks, as opposed to those about their settings. */
  get runWarnings(): LogRecord[] {
    return this.logger.records.filter(
      ({ level, namespace }) => level === 'warn' && namespace.endsWith(':runner'),
    );
  }

  /** Writes a number down for the report. */
  measure(what: string, value: number, unit = ''): void {
    this.measured[what] = `${Math.round(value)} ${unit}`.trim();
  }

  createConfig(options: ConfigOptions): Config {
    const config = new Config({ ...this.defaults, ...options });
    this.#configs.add(config);
    return config;
  }

  /** One whose hooks came later than its constructor, so that what is wrong with them is told, and not thrown. */
  createChangingConfig(hooks: HookDefinitions, options: ConfigOptions = {}): ChangingConfig {
    const config = new ChangingConfig({ ...this.defaults, ...options });
    config.hooks = hooks;
    this.#configs.add(config);
    return config;
  }

  /** What `createConfig` assumes. */
  get defaults(): ConfigOptions {
    return {
      enableHooks: true,
      workingDir: this.directory,
      debugLogger: this.logger,
      // Whatever the environment of the tests says.
      ...(this.#start === 'spawner' && { hooksRunner: { warmShells: 16, spawner: true } }),
    };
  }

  /** Runs a hook, and waits until the same one is held for the next event. */
  async warmUp(): Promise<void> {
    this.#start = 'spawner';
    this.measured['start'] = this.#start;
    await this.callTool([hook('true')]);
    await expect.poll(() => spawnerStatus()?.held, WAIT).toBe(1);
    this.#spawner = spawnerStatus()?.runId;
  }

  /** Calls a tool that has these BeforeTool hooks, which run at once. */
  callTool(hooks: readonly CommandHookConfig[], options?: ToolCallOptions): Promise<Answer> {
    return this.callToolOf(this.createConfig({ hooks: { BeforeTool: [{ hooks }] } }), options);
  }

  /** Calls a tool that answers `done`. */
  async callToolOf(config: Config, options: ToolCallOptions = {}): Promise<Answer> {
    const { toolName = 'write_file', signal } = options;
    // Not a default, which would stand in for `undefined`.
    const { toolInput } = { toolInput: {}, ...options };
    this.#configs.add(config);
    const hooks: HookExecutionResult[] = [];
    let input: Record<string, unknown> | undefined;
    const startedAt = performance.now();
    const result = await executeToolWithHooks(
      config,
      toolName,
      toolInput,
      async (given) => {
        input = given;
        return { llmContent: 'done', returnDisplay: 'done' };
      },
      { signal, onHooks: (_event, { results }) => void hooks.push(...results) },
    );
    const answerMs = performance.now() - startedAt;
    this.measure('answer', answerMs, 'ms');
    const verdict = verdictOf(result.error?.type);
    const text = toParts(result.llmContent)
      .map((part) => part.text)
      .join('');
    return { verdict, text, input, answerMs, hooks };
  }

  /** Writes a file of this host's directory, with what is around it; returns its absolute path. */
  async write(file: string, content: string | object, mode = 0o644): Promise<string> {
    const absolute = path.join(this.directory, file);
    await mkdir(path.dirname(absolute), { recursive: true });
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    // A program that a hook has started may run a moment longer than the hook, and cannot be written then.
    const writing = () =>
      writeFile(absolute, text, { mode }).then(
        () => 'written',
        (error: unknown) => errorCode(error),
      );
    await expect.poll(writing, { interval: 5, timeout: 10_000 }).toBe('written');
    return absolute;
  }

  /** The lines of a file of this host's directory; none when there is no such file. */
  lines(file: string): string[] {
    const absolute = path.join(this.directory, file);
    return existsSync(absolute) ? readFileSync(absolute, 'utf8').split('\n').slice(0, -1) : [];
  }

  /** Makes a file for which hooks wait. */
  touch(file: string): void {
    appendFileSync(path.join(this.directory, file), '');
  }

  exists(file: string): boolean {
    return existsSync(path.join(this.directory, file));
  }

  /** Waits until a hook has made a file. */
  async waitForFile(file: string): Promise<void> {
    await vi.waitFor(() => expect(this.exists(file)).toBe(true), WAIT);
  }

  /** The settings of this directory as a project, and of `home` in it as the user's. */
  loadSettings(): Promise<LoadedSettings> {
    const at = (name: string) => path.join(this.directory, name);
    return loadSettings({
      workingDir: this.directory,
      home: at('home'),
      systemPath: at('system.json'),
      trustProject: true,
    });
  }

  /** The processes of hooks that still run, without the shells that wait for the next hook. */
  leftovers(): number[] {
    return findProcesses(`${this.#spawner ?? this.runId}/`).filter((pid) => !isExpecting(pid));
  }

  /** Lets background jobs outlive the test, until its end. */
  tolerateLeftovers(): void {
    this.#toleratesLeftovers = true;
  }

  /**
   * Waits until no process of this host is left, not even a shell that waits: what held the pipes of a hook has two
   * seconds for its clean-up.
   */
  async expectNoLeftovers(withinMs = 2_500): Promise<void> {
    for (const config of this.#configs) await config.getHookSystem()?.dispose();
    if (this.#toleratesLeftovers) return;
    await vi.waitFor(() => expect(findProcesses(this.runId)).toEqual([]), {
      timeout: withinMs,
      interval: 20,
    });
  }

  async close(): Promise<void> {
    const left = findProcesses(this.runId);
    this.measure('leftovers', left.length);
    kill(left);
    vi.unstubAllEnvs();
    await rm(this.directory, { recursive: true, force: true });
  }
}

const WAIT = { timeout: 10_000, interval: 10 };

function verdictOf(error: string | undefined): Answer['verdict'] {
  if (error === ToolErrorType.Blocked) return 'blocked';
  return error === ToolErrorType.StopExecution ? 'stopped' : 'allowed';
}
