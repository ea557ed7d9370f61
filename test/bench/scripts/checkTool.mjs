// The policy of checkTool.sh, in a language with an interpreter that takes its time to start.
import { text } from 'node:stream/consumers';

const event = JSON.parse(await text(process.stdin));
const decision = event.tool_name === 'read_file' ? 'allow' : 'deny';
console.log(JSON.stringify({ decision, reason: `hook ${process.argv[2]}` }));
