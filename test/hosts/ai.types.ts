// Compiled, never run: what hookstack/ai gives fits the types of both versions, and keeps those of tools.
import * as ai7 from 'ai';
import * as ai6 from 'ai6';
import { Config } from 'hookstack';
import { aiHooks } from 'hookstack/ai';
import { z } from 'zod';

const { middleware, wrapTools, isStopped, stopReason } = aiHooks(new Config());
const inputSchema = z.object({ city: z.string() });

export async function inVersion7(model: Parameters<typeof ai7.wrapLanguageModel>[0]['model']) {
  const weather = ai7.tool({ inputSchema, execute: async ({ city }) => ({ city, degrees: 7 }) });
  const tools = wrapTools({ weather });
  const wrapped = ai7.wrapLanguageModel({ model, middleware });
  const stopWhen = [ai7.stepCountIs(5), isStopped];
  const result = await ai7.generateText({ model: wrapped, tools, stopWhen, prompt: 'Go.' });
  const [given] = result.toolResults;
  const degrees: number | undefined = given?.dynamic ? undefined : given?.output.degrees;
  const agent = new ai7.ToolLoopAgent({ model: wrapped, tools, stopWhen: isStopped });
  const streamed = ai7.streamText({ model: wrapped, tools, stopWhen, prompt: 'Go.' });
  const reason: string | undefined = stopReason({ steps: await streamed.steps });
  return { degrees, agent, reason: reason ?? stopReason(result) };
}

export async function inVersion6(model: Parameters<typeof ai6.wrapLanguageModel>[0]['model']) {
  const weather = ai6.tool({ inputSchema, execute: async ({ city }) => ({ city, degrees: 7 }) });
  const tools = wrapTools({ weather });
  const wrapped = ai6.wrapLanguageModel({ model, middleware });
  const stopWhen = [ai6.stepCountIs(5), isStopped];
  const result = await ai6.generateText({ model: wrapped, tools, stopWhen, prompt: 'Go.' });
  const [given] = result.toolResults;
  const degrees: number | undefined = given?.dynamic ? undefined : given?.output.degrees;
  const agent = new ai6.ToolLoopAgent({ model: wrapped, tools, stopWhen: isStopped });
  return { degrees, agent, reason: stopReason(result) };
}
