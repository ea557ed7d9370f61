/** Thrown in place of a tool that does not run, as the model reads an error of the call then. */
export class ToolRefusedError extends Error {
  override readonly name = 'ToolRefusedError';
  readonly code = 'TOOL_REFUSED';

  constructor(
    message: string,
    readonly toolName: string,
  ) {
    super(message);
  }
}
