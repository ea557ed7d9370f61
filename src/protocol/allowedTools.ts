import type { GenerateContentParameters } from '@google/genai';

/** The names of the tools that a request lets the model call; `undefined` without a restriction. */
export function allowedNames({ config }: GenerateContentParameters): readonly string[] | undefined {
  const { mode, allowedFunctionNames } = config?.toolConfig?.functionCallingConfig ?? {};
  return mode === 'NONE' ? [] : allowedFunctionNames;
}

/** The same of a request that hooks and middleware have seen; `undefined` where they left the choice of tools as it was. */
export function namesLeft(
  given: GenerateContentParameters,
  changed: GenerateContentParameters,
): readonly string[] | undefined {
  const isSame = changed.config?.toolConfig === given.config?.toolConfig;
  return isSame ? undefined : allowedNames(changed);
}
