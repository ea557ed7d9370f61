import { referenceTools } from '../../agent/tools/referenceTools.js';
import { testWithLimit } from '../../util/limitedRegExp.js';
import { errorMessage } from '../../util/errorMessage.js';
import { DEFAULT_TOOL } from '../shared/options.js';
import { UsageError } from '../shared/usageError.js';

/**
 * The name of a tool that a matcher fits: a known one, one that the matcher itself names, or one that it would fit.
 *
 * @throws UsageError for a matcher that is no expression, or for which no such name is found
 */
export function findTool(matcher: string): string {
  if (matcher === '' || matcher === '*') return DEFAULT_TOOL;
  const like = matcher.replaceAll(/\.[*+]\??/gu, 'x').replaceAll(/[^\w-]/gu, '');
  const named = matcher.match(/[\w-]+/gu) ?? [];
  const known = [DEFAULT_TOOL, ...referenceTools.map(({ name }) => name)];
  const found = [...known, ...named, like].find((name) => name !== '' && fits(matcher, name));
  if (found !== undefined) return found;
  throw new UsageError(
    `--matcher ${matcher} fits no tool that is known here: name one in it, as in ^(write_file|my_tool)$`,
  );
}

function fits(matcher: string, name: string): boolean {
  try {
    return testWithLimit(matcher, '', name);
  } catch (cause) {
    throw new UsageError(
      `--matcher ${matcher} cannot be used (${errorMessage(cause)}); write a regular expression`,
      { cause },
    );
  }
}
