import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isInside } from '../../util/paths.js';
import { loaderSeverities, rules } from '../../validate/rules.js';
import type { Finding, Severity } from '../../validate/types.js';
import { toVisible } from '../shared/terminal.js';
import { hostEnvironment } from '../../util/requester.js';

/** A workflow command, of which GitHub makes an annotation at the line. */
export function formatForGithub(finding: Finding): string {
  const { file, line, column, severity, rule } = finding;
  const at = escapeProperty(path.relative(repositoryRoot(), file));
  const properties = `file=${at},line=${line},col=${column},title=${escapeProperty(rule)}`;
  return `::${severity} ${properties}::${escapeData(textOf(finding))}`;
}

/** A log of SARIF 2.1.0, as code scanning reads it. */
export function toSarif(findings: readonly Finding[]): object {
  const severities = new Map<string, Severity>([
    ['file', 'error'],
    ...Object.entries(loaderSeverities),
    ...Object.entries(rules).map(([rule, { severity }]) => [rule, severity] as const),
  ]);
  const ids = [...severities.keys()];
  const driver = {
    name: 'hookstack',
    rules: ids.map((id) => ({
      id,
      name: id,
      shortDescription: { text: id.replaceAll('-', ' ') },
      defaultConfiguration: { level: severities.get(id) },
    })),
  };
  const root = repositoryRoot();
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver },
        columnKind: 'utf16CodeUnits',
        originalUriBaseIds: { [ROOT_ID]: { uri: `${pathToFileURL(root).href}/` } },
        results: findings.map((finding) => ({
          ruleId: finding.rule,
          ruleIndex: ids.indexOf(finding.rule),
          level: finding.severity,
          message: { text: textOf(finding) },
          locations: [
            {
              physicalLocation: {
                artifactLocation: locationOf(finding.file, root),
                region: { startLine: finding.line, startColumn: finding.column },
              },
            },
          ],
        })),
      },
    ],
  };
}

/** The name that tools know for the root of the repository. */
const ROOT_ID = '%SRCROOT%';

/** What paths have to be relative to, so that they are found in the repository. */
function repositoryRoot(): string {
  return path.resolve(hostEnvironment()['GITHUB_WORKSPACE'] ?? '');
}

function locationOf(file: string, root: string): object {
  if (!isInside(file, root)) return { uri: pathToFileURL(file).href };
  const steps = path.relative(root, file).split(path.sep);
  return { uri: steps.map(encodeURIComponent).join('/'), uriBaseId: ROOT_ID };
}

function textOf({ path: at, message }: Finding): string {
  return at === '' ? message : `${at}: ${message}`;
}

/** What GitHub reads back from a message; nothing else that a terminal would obey is left. */
function escapeData(text: string): string {
  const escaped = text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  return toVisible(escaped);
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
