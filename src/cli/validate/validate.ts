import { checkSettings, formatFinding } from '../shared/checkSettings.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { plural, printJson, printLine } from '../shared/terminal.js';
import { isTrustedRun } from '../shared/workspace.js';

type ValidateCommandOptions = Omit<WorkspaceOptions, 'settings'>;

/** @returns the exit code: 0 no errors, 1 errors */
export async function validate(
  names: readonly string[],
  options: ValidateCommandOptions,
): Promise<number> {
  const { files, findings } = await checkSettings(names, options.cwd, isTrustedRun(options));
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const warnings = findings.length - errors;
  const isIdle = files.length === 0 && findings.length === 0;
  if (options.json) printJson({ files, errors, warnings, findings });
  else if (isIdle) printLine('There are no settings files: nothing to check');
  else {
    const counts = [plural(errors, 'error'), plural(warnings, 'warning')].join(', ');
    printLine(
      [...findings.map(formatFinding), `${plural(files.length, 'file')}: ${counts}`].join('\n'),
    );
  }
  return errors > 0 ? 1 : 0;
}
