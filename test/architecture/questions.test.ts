import { readFileSync } from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
const APPROVALS = 'src/cli/serve/approvals';

/** The files of the sources in which something stands. */
function filesWith(pattern: RegExp, files = ['src/**/*.ts', 'middleware/*.ts']): string[] {
  return globSync(files, { cwd: ROOT })
    .filter((file) => pattern.test(readFileSync(path.join(ROOT, file), 'utf8')))
    .toSorted();
}

describe('a question to a person', () => {
  it('is made into text by two files, which show it through reveal.ts alone', () => {
    const shows = filesWith(/\boriginalInput\b/, ['src/cli/**/*.ts']);
    expect(shows).toEqual([
      'src/cli/run/questionText.ts',
      // What a call was, once it is scheduled or over.
      'src/cli/run/runOutput.ts',
      'src/cli/run/textOutput.ts',
      // Its name, among the keys that are kept.
      `${APPROVALS}/approvalQuestions.ts`,
      `${APPROVALS}/approvalView.ts`,
    ]);
    expect(filesWith(/\breveal(?:Marked)?\(/)).toEqual([
      'src/cli/run/questionText.ts',
      'src/cli/shared/reveal.ts',
    ]);
    expect(filesWith(/\brevealMarked\b/)).toEqual([
      `${APPROVALS}/approvalView.ts`,
      'src/cli/shared/reveal.ts',
    ]);
  });

  it('reaches the page as approvalView.ts shows it, and is put in as text', () => {
    expect(filesWith(/\.request\b(?!\.id)/, [`${APPROVALS}/approval{Events,Routes}.ts`])).toEqual(
      [],
    );
    const page = readFileSync(path.join(ROOT, APPROVALS, 'page/page.js'), 'utf8');
    expect(page).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser/);
    // Texts of others go through marked(): what is put in as it is are words of the page.
    expect(page.match(/textContent = (?!'|TOO_SOON|text;|minutes).*/g)).toEqual([
      'textContent = body.error;',
    ]);
  });

  it('is remembered as allowed in one place, by one key', () => {
    expect(filesWith(/remember === 'session'/)).toEqual(['src/approvals/approvals.ts']);
    const approvals = readFileSync(path.join(ROOT, 'src/approvals/approvals.ts'), 'utf8');
    expect(approvals.match(/rememberedKeyOf\(/g)).toHaveLength(2);
  });

  it('has to be in sight for as long on the terminal as on the page', () => {
    expect(filesWith(/\bMIN_READ_MS\b/)).toEqual([
      'src/cli/run/terminalApprover.ts',
      `${APPROVALS}/signIn.ts`,
      'src/protocol/approval.ts',
    ]);
  });
});
