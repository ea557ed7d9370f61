import type { Tool, ToolContext, ToolResult } from '../../tools/tools.js';
import { errorMessage } from '../../util/errorMessage.js';
import {
  checkArguments,
  describeParameters,
  type Arguments,
  type ToolParameters,
} from './parameters.js';
import { cancelled, failed, ToolFailure } from './toolFailure.js';
import { resolveInWorkspace, type WorkspacePath } from './workspace.js';

/** A tool that works on one file or directory. */
export interface ToolDefinition<P extends ToolParameters> {
  readonly name: string;
  readonly description: string;
  readonly parameters: P;
  /** Whether it only reads, so that it may do so in other folders that the context names. Default false. */
  readonly isReader?: boolean;
  /** Default: the working directory. */
  targetOf(args: Arguments<P>): string | undefined;
  /** Whatever it throws becomes a result with an error. */
  run(args: Arguments<P>, target: WorkspacePath, context: ToolContext): Promise<ToolResult>;
}

/** `run` sees only checked arguments and a path inside the working directory; `execute` never rejects. */
export function defineTool<P extends ToolParameters>(definition: ToolDefinition<P>): Tool {
  const { name, description, parameters } = definition;
  return {
    name,
    declaration: { name, description, parametersJsonSchema: describeParameters(parameters) },
    async execute(input, context) {
      const { signal, workingDir, readable } = context;
      try {
        signal?.throwIfAborted();
        const args = checkArguments(name, parameters, input);
        const target = await resolveInWorkspace(
          definition.targetOf(args) ?? '.',
          workingDir,
          definition.isReader ? readable : undefined,
        );
        return await definition.run(args, target, context);
      } catch (error) {
        if (error instanceof ToolFailure) return error.result;
        if (signal?.aborted) return cancelled(name).result;
        const nextStep =
          'Check that the path is right and that its permissions allow this, or use another path.';
        return failed(`${name} failed: ${errorMessage(error)}.`, nextStep).result;
      }
    },
  };
}
