// AfterTool: once a draft is written, a person has to look at it.
import { defineHook } from 'hookstack/author';

await defineHook('AfterTool', ({ tool_input: input, tool_response: response }) => {
  const stopReason = `Please review ${String(input.file_path)}.`;
  return response.error ? undefined : { continue: false, stopReason };
});
