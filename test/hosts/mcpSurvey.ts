import type { Client as ModernClient } from '@modelcontextprotocol/client';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';

export type AnyClient = Client | ModernClient;

/** Arguments for every tool of the server. One that is new fails the test, and gets its own. */
export const ARGUMENTS: Record<string, Record<string, unknown>> = {
  echo: { message: 'Grüße \u2028 \u0000' },
  'get-annotated-message': { messageType: 'error', includeImage: true },
  'get-env': {},
  'get-resource-links': { count: 2 },
  'get-resource-reference': { resourceType: 'Blob', resourceId: 2 },
  'get-roots-list': {},
  'get-structured-content': { location: 'Chicago' },
  'get-sum': { a: 1, b: 2.5 },
  'get-tiny-image': {},
  'gzip-file-as-resource': { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resource' },
  'simulate-research-query': { topic: 'hooks' },
  'toggle-simulated-logging': {},
  'toggle-subscriber-updates': {},
  'trigger-elicitation-request': {},
  'trigger-long-running-operation': { duration: 0.1, steps: 2 },
  'trigger-sampling-request': { prompt: 'Say something.', maxTokens: 5 },
  // Of the server for 2026-07-28.
  sum: { a: 1, b: 2 },
  secret: {},
  confirm: {},
};

/** What came of it, be it an error. */
async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  return work.catch((error: unknown) => ({
    code: (error as { code?: unknown }).code,
    text: String(error),
  }));
}

/** Everything that a server has. */
export async function survey(client: AnyClient): Promise<{ calls: Record<string, object> }> {
  const { tools } = await client.listTools();
  const calls: Record<string, unknown> = {};
  for (const { name } of tools) {
    const given = ARGUMENTS[name];
    if (!given) throw new Error(`There are no arguments for the tool "${name}"`);
    calls[name] = await outcomeOf(client.callTool({ name, arguments: given }));
  }
  const { resources } = await client.listResources();
  const reads: Record<string, unknown> = {};
  for (const { uri } of resources) reads[uri] = await outcomeOf(client.readResource({ uri }));
  const { prompts } = await client.listPrompts();
  const messages: Record<string, unknown> = {};
  for (const { name, arguments: wanted = [] } of prompts) {
    const given = Object.fromEntries(wanted.map((each) => [each.name, valueOf(each.name)]));
    messages[name] = await outcomeOf(client.getPrompt({ name, arguments: given }));
  }
  const templates = await outcomeOf(client.listResourceTemplates());
  return steady({ tools, calls, resources, reads, prompts, messages, templates }) as {
    calls: Record<string, object>;
  };
}

function valueOf(argument: string): string {
  return (
    { resourceType: 'Text', resourceId: '1', department: 'Engineering', name: 'Alice' }[argument] ??
    'x'
  );
}

/** Without what differs from one run to the next. */
function steady(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/\d{1,2}:\d\d:\d\d(?: [AP]M)?/gu, 'TIME')
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gu, 'SESSION')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu, 'DATE');
  return JSON.parse(text, (key, found: unknown) => (key === 'blob' ? 'BLOB' : found)) as unknown;
}
