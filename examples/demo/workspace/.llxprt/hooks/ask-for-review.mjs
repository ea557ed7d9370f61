// AfterTool: once a draft is written, a person has to look at it.
import { json } from 'node:stream/consumers';

const { tool_input: input, tool_response: response } = await json(process.stdin);

if (!response.error) {
  const stopReason = `Please review ${input.file_path}.`;
  console.log(JSON.stringify({ continue: false, stopReason }));
}
