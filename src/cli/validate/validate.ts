import { checkSettings, formatFindings } from '../shared/checkSettings.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { plural, printJson, printLine, printNotice } from '../shared/terminal.js';
import { isTrustedRun } from '../shared/workspace.js';
import { formatForGithub, toSarif } from './findingFormats.js';

interface ValidateCommandOptions extends Omit<WorkspaceOptions, 'settings'> {
  readonly format: 'text' | 'github' | 'sarif';
  /** Default: any number. */
  readonly maxWarnings?: number;
}

/** @returns the exit code: 0 no errors, 1 errors, or more warnings than there may be */
export async function validate(
  names: readonly string[],
  options: ValidateCommandOptions,
): Promise<number> {
  const { files, findings } = await checkSettings(names, options.cwd, isTrustedRun(options));
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const warnings = findings.length - errors;
  if (options.json) printJson({ files, errors, warnings, findings });
  else if (options.format === 'sarif') printJson(toSarif(findings));
  else if (files.length === 0 && findings.length === 0) {
    printLine('There are no settings files: nothing to check');
  } else {
    const isForGithub = options.format === 'github';
    const lines = isForGithub ? findings.map(formatForGithub) : formatFindings(findings);
    const counts = [plural(errors, 'error'), plural(warnings, 'warning')].join(', ');
    printLine([...lines, `${plural(files.length, 'file')}: ${counts}`].join('\n'));
  }
  const { maxWarnings = Infinity } = options;
  if (warnings > maxWarnings) {
    printNotice(
      'error',
      `${plural(warnings, 'warning')}, and --max-warnings allows ${maxWarnings}: fix them, or allow more`,
    );
  }
  return errors > 0 || warnings > maxWarnings ? 1 : 0;
}
