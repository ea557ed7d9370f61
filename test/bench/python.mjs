import { execFileSync } from 'node:child_process';

/** The interpreter itself: `python3` may be a script that chooses one, which would be measured too. */
export const PYTHON = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], {
  encoding: 'utf8',
}).trim();
