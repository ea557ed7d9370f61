import { builtEntry } from '../builds.mjs';

/**
 * One hook system under measurement; `geminiCliCore.mjs` has the same face.
 *
 * @typedef {object} Subject
 * @property {{
 *   fireBeforeToolEvent: (toolName: string, toolInput: object) => Promise<object>,
 *   fireAfterToolEvent: (toolName: string, toolInput: object, toolResponse: object) => Promise<object>,
 *   fireBeforeModelEvent: (request: object) => Promise<object>,
 *   fireAfterModelEvent: (request: object, response: object) => Promise<object>,
 *   fireBeforeToolSelectionEvent: (request: object) => Promise<object>,
 * }} [handler] fires events, and gives what all hooks said together; none where hooks are off
 * @property {(toolName: string, toolInput: object) => Promise<object | undefined>} fireBeforeToolTrigger what an
 *   agent calls before a tool
 * @property {(toolName: string, toolInput: object, execute: () => Promise<object>) => Promise<object>} runTool runs a
 *   tool with the functions around it
 * @property {() => number} countLooks how often such functions have run
 * @property {(tools: readonly object[]) => { schedule: (calls: readonly object[]) => Promise<object[]> }} [openScheduler]
 *   what an agent has its tools called by; the package alone has it, as the next
 * @property {(models: object) => { sendMessageStream: (message: string) => AsyncIterable<object> }} [openChat] begins a
 *   conversation
 */

/**
 * @param {object} options
 * @param {string} options.checkout whose build is measured
 * @param {boolean} [options.enableHooks]
 * @param {object} options.hooks as under the `hooks` key of settings.json
 * @param {number} [options.inProcess] middleware around a tool call
 * @param {boolean} [options.isCold] whether each hook is started when its event comes, by the host itself
 * @param {string} options.cwd
 * @returns {Promise<Subject>}
 */
export async function openSubject(options) {
  const { checkout, enableHooks = true, hooks, inProcess = 0, isCold = false, cwd } = options;
  const { Config, CoreToolScheduler, executeToolWithHooks, fireBeforeToolHook, GeminiChat } =
    await import(builtEntry(checkout, 'index.js'));
  let looks = 0;
  const config = new Config({
    enableHooks,
    hooks,
    workingDir: cwd,
    ...(isCold && { hooksRunner: { warmShells: 0, spawner: false } }),
  });
  for (let index = 0; index < inProcess; index++) {
    config.use('tool', async function look(_call, next) {
      looks += 1;
      await next();
    });
  }
  const system = config.getHookSystem();
  await system?.initialize();
  return {
    handler: system?.getEventHandler(),
    fireBeforeToolTrigger: (toolName, input) => fireBeforeToolHook(config, toolName, input),
    runTool: (toolName, input, execute) => executeToolWithHooks(config, toolName, input, execute),
    countLooks: () => looks,
    openScheduler: (tools) => new CoreToolScheduler({ config, tools }),
    openChat: (models) => new GeminiChat({ config, models, model: 'gemini-2.5-pro' }),
  };
}
