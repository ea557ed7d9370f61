import { removeControls } from '../../protocol/sanitizeText.js';
import { hookLines, type TestResult } from './runTest.js';

interface NamedResult extends TestResult {
  readonly name: string;
}

/** JUnit XML, as the servers of CI read it. A file that is no recorded event is an error, a difference a failure. */
export function toJunit(results: readonly NamedResult[]): string {
  const errors = results.filter(({ problems }) => problems.length > 0).length;
  const failures = results.filter(({ passed }) => !passed).length - errors;
  const time = seconds(results.reduce((sum, { durationMs }) => sum + durationMs, 0));
  const counts = attributes({ tests: results.length, failures, errors, time });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${counts}>`,
    `  <testsuite name="hookstack test"${counts}>`,
    ...results.map(formatCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function formatCase(result: NamedResult): string {
  const { name, event, durationMs } = result;
  const time = seconds(durationMs);
  const start = `    <testcase${attributes({ name, classname: event ?? 'no event', file: name, time })}`;
  if (result.passed) return `${start}/>`;
  const [tag, lines] =
    result.problems.length > 0
      ? ['error', result.problems]
      : ['failure', [...result.differences.map(formatDifference), ...hookLines(result)]];
  const message = attributes({ message: lines[0] ?? '' });
  return `${start}>\n      <${tag}${message}>${escapeXml(lines.join('\n'))}</${tag}>\n    </testcase>`;
}

function formatDifference({ at, expected, actual }: TestResult['differences'][number]): string {
  return `${at}: expected ${JSON.stringify(expected)}, actual ${JSON.stringify(actual)}`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeXml(String(value)).replaceAll(/[\t\n]/g, ' ')}"`)
    .join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Without what XML cannot hold. */
function escapeXml(text: string): string {
  return removeControls(text)
    .replaceAll(/[^\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
