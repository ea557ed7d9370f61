// BeforeTool: no code without a test. src/a/b.js may be written once test/a/b.test.js is there.
import { access } from 'node:fs/promises';
import path from 'node:path';
import { json } from 'node:stream/consumers';

// Whatever goes wrong blocks the call: onFailure is "deny".
const { cwd, tool_input: input } = await json(process.stdin);

const file = path.relative(cwd, path.resolve(cwd, input.file_path));
const [, name, extension] = /^src[\\/](.+)(\.[cm]?[jt]sx?)$/.exec(file) ?? [];

if (name) {
  const test = path.join('test', `${name}.test${extension}`);
  const exists = await access(path.join(cwd, test)).then(
    () => true,
    () => false,
  );
  if (!exists) {
    const reason = `${file} has no test yet. Write ${test} first, and see it fail.`;
    console.log(JSON.stringify({ decision: 'block', reason }));
  }
}
