import { isRecord } from '../util/records.js';

/** A request to the model with its tools renamed. */
export function withToolNames(request: unknown, rename: (name: string) => string): unknown {
  if (!isRecord(request)) return request;
  const { toolConfig, tools } = request;
  return {
    ...request,
    ...(isRecord(toolConfig) && { toolConfig: withAllowedNames(toolConfig, rename) }),
    ...(Array.isArray(tools) && { tools: tools.map((tool: unknown) => withNewName(tool, rename)) }),
  };
}

function withNewName(tool: unknown, rename: (name: string) => string): unknown {
  if (!isRecord(tool) || typeof tool['name'] !== 'string') return tool;
  return { ...tool, name: rename(tool['name']) };
}

export function withAllowedNames(
  toolConfig: Readonly<Record<string, unknown>>,
  rename: (name: string) => string,
): Record<string, unknown> {
  const { allowedFunctionNames: names } = toolConfig;
  if (!Array.isArray(names)) return { ...toolConfig };
  const renamed = names.map((name) =>
    typeof name === 'string' ? rename(name) : (name as unknown),
  );
  return { ...toolConfig, allowedFunctionNames: renamed };
}
