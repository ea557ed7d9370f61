import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { HookEventName, Moment } from '../../protocol/types.js';
import type { FireReport } from '../shared/fireReport.js';
import { expectationsOf, formatHookTest, HOOK_TEST_SUFFIX } from '../shared/hookTestFile.js';
import { printNotice, toOneLine } from '../shared/terminal.js';
import { orUsageError, UsageError } from '../shared/usageError.js';

/** @throws UsageError when an event at this moment cannot be recorded in this file */
export function checkRecord(file: string, moment: Moment | undefined): void {
  if (moment === 'asked') {
    throw new UsageError(
      '--record cannot write this event: a *.hooktest.json fires events of our names alone',
    );
  }
  if (file.endsWith(HOOK_TEST_SUFFIX)) return;
  throw new UsageError(
    `--record ${file} must end in ${HOOK_TEST_SUFFIX}, so that hookstack test finds it`,
  );
}

export async function writeRecord(
  file: string,
  event: HookEventName,
  input: Readonly<Record<string, unknown>>,
  report: FireReport,
): Promise<void> {
  const text = formatHookTest({ event, input, expect: expectationsOf(report) });
  const write = async () => {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: 'wx' });
  };
  await orUsageError(
    write(),
    (detail) => `--record ${file} cannot be written (${detail}); name a new file`,
  );
  printNotice('recorded', toOneLine(file));
}
