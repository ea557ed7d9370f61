import { cancelled, fail } from './outcome.js';
import {
  checkArguments,
  describeParameters,
  type Arguments,
  type ToolParameters,
} from './parameters.js';
import { ToolErrorType, type Tool, type ToolContext, type ToolResult } from '../../tools/tools.js';
import { resolveInWorkspace, type WorkspacePath } from './workspace.js';
import { errorMessage } from '../../util/errorMessage.js';

/** A tool that works on one file or directory of the workspace. */
export interface ToolDefinition<P extends ToolParameters> {
  readonly name: string;
  readonly description: string;
  readonly parameters: P;
  /** The path that the call is about; `undefined` means the working directory. */
  targetOf(args: Arguments<P>): string | undefined;
  /** Does the work. An error that it throws becomes a result of type `Failed` or `Cancelled`. */
  run(args: Arguments<P>, target: WorkspacePath, context: ToolContext): Promise<ToolResult>;
}

/**
 * Makes a tool whose `run` sees checked arguments and a path inside of the working directory only, and
 * whose `execute` never rejects.
 */
export function defineTool<P extends ToolParameters>(definition: ToolDefinition<P>): Tool {
  const { name, description, parameters } = definition;
  return {
    name,
    declaration: { name, description, parametersJsonSchema: describeParameters(parameters) },
    async execute(input, context) {
      try {
        context.signal?.throwIfAborted();
        const args = checkArguments(name, parameters, input);
        if (args.failure) return args.failure;
        const target = await resolveInWorkspace(
          definition.targetOf(args.value) ?? '.',
          context.workingDir,
        );
        if (target.failure) return target.failure;
        return await definition.run(args.value, target.value, context);
      } catch (error) {
        if (context.signal?.aborted) return cancelled(name);
        return failFromError(name, error);
      }
    },
  };
}

function failFromError(toolName: string, error: unknown): ToolResult {
  const message = errorMessage(error);
  return fail(
    ToolErrorType.Failed,
    `${toolName} failed: ${message}.`,
    'Check that the path is right and that its permissions allow this, or use another path.',
  );
}
