import type { FunctionCallingConfigMode, GenerateContentParameters } from '@google/genai';

/** The names of the tools that a request lets the model call; `undefined` without a restriction. */
export function allowedNames({ config }: GenerateContentParameters): readonly string[] | undefined {
  const { mode, allowedFunctionNames } = config?.toolConfig?.functionCallingConfig ?? {};
  return mode === 'NONE' ? [] : allowedFunctionNames;
}

/** A request that lets the model call no tool that another one keeps from it; itself where that keeps none. */
export function withinTools(
  request: GenerateContentParameters,
  frame: GenerateContentParameters,
): GenerateContentParameters {
  const names = allowedNames(frame);
  if (!names) return request;
  const own = allowedNames(request);
  const left = own ? names.filter((name) => own.includes(name)) : [...names];
  const { toolConfig } = request.config ?? {};
  const functionCallingConfig = {
    ...toolConfig?.functionCallingConfig,
    allowedFunctionNames: left,
    ...(left.length === 0 && { mode: 'NONE' as FunctionCallingConfigMode }),
  };
  const config = { ...request.config, toolConfig: { ...toolConfig, functionCallingConfig } };
  return { ...request, config };
}
