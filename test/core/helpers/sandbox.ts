import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { GoogleGenAI } from '@google/genai';
import type { Content, GenerateContentConfig, Models, ToolConfig, ToolUnion } from '@google/genai';
import { afterEach, beforeEach } from 'vitest';
import { Config, type ConfigOptions } from '../../../src/config/config.js';
import { startRecordedModel, type RecordedModel } from '../../agent/recordedServer.js';
import type {
  HookDefinitions,
  HookEventInput,
  HookEventName,
} from '../../../src/protocol/types.js';
import {
  writeAnsweringScript,
  writeComputingScript,
  writeShellScript,
  type HookScript,
} from './hookScripts.js';
import type { RecordedAnswer } from './modelAnswers.js';

/** A request body as it arrived at the model. */
export interface SentRequest {
  readonly contents: readonly Content[];
  readonly generationConfig?: GenerateContentConfig;
  readonly toolConfig?: ToolConfig;
  readonly tools?: readonly ToolUnion[];
  readonly systemInstruction?: Content;
}

/** A running model with recorded answers, and the real SDK connected to it. */
export interface TestModel {
  readonly models: Models;
  /** The bodies of all requests so far, in order of arrival. */
  readonly sent: () => readonly SentRequest[];
}

/** A working directory, hook scripts and a model of its own for every test. */
export interface Sandbox {
  readonly workingDir: string;
  /** The content of a file of the working directory; `undefined` when there is none. */
  readonly read: (file: string) => string | undefined;
  remove(file: string): void;
  /** A hook that prints this output. */
  says(output: object): HookScript;
  /** A hook that runs these shell commands, with what it read in `$input`. */
  runs(commands: string): HookScript;
  /** A hook that prints what the function, which must not use anything around it, makes of the input. */
  computes<E extends HookEventName>(answer: (input: HookEventInput<E>) => object): HookScript;
  createConfig(hooks: HookDefinitions, options?: ConfigOptions): Config;
  startModel(...answers: RecordedAnswer[]): Promise<TestModel>;
}

/** Makes a sandbox before each test of the file, and removes it afterwards. */
export function useSandbox(): Sandbox {
  let base = '';
  let scripts = 0;
  let running: RecordedModel[] = [];

  beforeEach(() => {
    base = realpathSync(mkdtempSync(path.join(tmpdir(), 'hookstack-core-')));
    mkdirSync(path.join(base, 'work'));
    mkdirSync(path.join(base, 'hooks'));
  });
  afterEach(async () => {
    await Promise.all(running.map((model) => model.close()));
    running = [];
    rmSync(base, { recursive: true, force: true });
  });

  const inWork = (file: string) => path.join(base, 'work', file);
  const nextName = () => `hook${++scripts}`;
  return {
    get workingDir() {
      return path.join(base, 'work');
    },
    read: (file) => (existsSync(inWork(file)) ? readFileSync(inWork(file), 'utf8') : undefined),
    remove: (file) => rmSync(inWork(file), { force: true }),
    says: (output) => writeAnsweringScript(path.join(base, 'hooks'), nextName(), output),
    runs: (commands) => writeShellScript(path.join(base, 'hooks'), nextName(), commands),
    computes: (answer) => writeComputingScript(path.join(base, 'hooks'), nextName(), answer),
    createConfig: (hooks, options) =>
      new Config({ enableHooks: true, workingDir: path.join(base, 'work'), hooks, ...options }),
    async startModel(...answers) {
      const file = path.join(base, `model${running.length}.responses`);
      await writeFile(file, answers.map((answer) => JSON.stringify(answer)).join('\n'));
      const model = await startRecordedModel(file);
      running.push(model);
      const { models } = new GoogleGenAI({
        apiKey: model.apiKey,
        vertexai: false,
        httpOptions: { baseUrl: model.baseUrl },
      });
      return { models, sent: () => model.requests.map(({ body }) => body as SentRequest) };
    },
  };
}
