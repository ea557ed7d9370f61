import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { SECONDS } from '../slowest.mjs';

const TESTS = path.resolve(import.meta.dirname, '..');

/** Begins with the files that are known to take long, also where none has run before, so that none of them is left last. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it sorts no list, but files by what is known of them
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => groupOf(a) - groupOf(b) || secondsOf(b) - secondsOf(a));
  }
}

function groupOf({ project }: TestSpecification): number {
  return project.config.sequence.groupOrder;
}

function secondsOf({ moduleId }: TestSpecification): number {
  return SECONDS[path.relative(TESTS, moduleId)] ?? 0;
}
