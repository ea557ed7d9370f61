// Packs the package and fails when it has grown beyond what anybody wants to download.
import { execFileSync } from 'node:child_process';

// The code is readable and has maps, which takes 140 kB more than minified code. What it takes in place of packages that
// nobody downloads besides is in it, too.
// Tables of sixteen agents, and the stage on which `doctor --live` tries them, take 60 kB.
// Rules, with the reader of commands twice, and guards that are ready to use, take 140 kB.
// Five events, async hooks, tools of MCP servers and prompts as hooks, MCP over HTTP, plugins and reload take 95 kB.
const MAX_KB = 1190;

const json = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--silent'], {
  encoding: 'utf8',
});
const [{ size, files }] = JSON.parse(json);
const kilobytes = Math.ceil(size / 1000);
console.log(`npm pack: ${kilobytes} kB in ${files.length} files`);
if (kilobytes >= MAX_KB) {
  console.error(`The limit is ${MAX_KB} kB; the largest files are:`);
  const largest = files.toSorted((a, b) => b.size - a.size).slice(0, 10);
  for (const file of largest) console.error(`  ${Math.ceil(file.size / 1000)} kB ${file.path}`);
  process.exitCode = 1;
}
