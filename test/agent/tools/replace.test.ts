import { describe, expect, it } from 'vitest';
import { replace } from '../../../src/agent/tools/fileTools.js';
import { ToolErrorType } from '../../../src/tools/tools.js';
import { useTemporaryWorkspace } from './temporaryWorkspace.js';

const workspace = useTemporaryWorkspace();

function change(old_string: string, new_string: string, more: Record<string, unknown> = {}) {
  return replace.execute({ file_path: 'a.txt', old_string, new_string, ...more }, workspace);
}

describe('replace', () => {
  it('replaces one occurrence', async () => {
    await workspace.write('a.txt', 'one two\n');
    expect(await change('two', 'three')).toEqual({
      llmContent: 'Replaced 1 occurrence of old_string in a.txt.',
      returnDisplay: 'Replaced 1 occurrence in a.txt',
    });
    expect(await workspace.read('a.txt')).toBe('one three\n');
  });

  it('replaces as many occurrences as expected', async () => {
    await workspace.write('a.txt', 'a-a-a');
    const { returnDisplay } = await change('a', '', { expected_replacements: 3 });
    expect(returnDisplay).toBe('Replaced 3 occurrences in a.txt');
    expect(await workspace.read('a.txt')).toBe('--');
  });

  it('takes both strings literally', async () => {
    await workspace.write('a.txt', 'f(.*) $1');
    await change('(.*)', "$& $' $1");
    expect(await workspace.read('a.txt')).toBe("f$& $' $1 $1");
  });

  it('keeps a byte order mark and carriage returns', async () => {
    await workspace.write('a.txt', '\uFEFFone\r\ntwo\r\n');
    await change('two', 'three');
    expect(await workspace.read('a.txt')).toBe('\uFEFFone\r\nthree\r\n');
  });

  it.each([
    ['x', {}, 'found 0 occurrences of old_string in a.txt, expected 1'],
    ['a', {}, 'found 3 occurrences of old_string in a.txt, expected 1'],
    ['a', { expected_replacements: 2 }, 'found 3 occurrences of old_string in a.txt, expected 2'],
  ])('changes nothing when %j occurs otherwise than expected', async (old, more, message) => {
    await workspace.write('a.txt', 'a-a-a');
    const { error } = await change(old, 'b', more);
    expect(error?.type).toBe(ToolErrorType.Failed);
    expect(error?.message).toContain(message);
    expect(await workspace.read('a.txt')).toBe('a-a-a');
  });

  it('points at carriage returns when nothing was found', async () => {
    await workspace.write('a.txt', 'one\r\ntwo\r\n');
    const { llmContent } = await change('one\ntwo', 'three');
    expect(llmContent).toContain(String.raw`Lines of this file end in \r\n.`);
  });

  it('creates a file from an empty old_string', async () => {
    const { returnDisplay } = await change('', 'new', { file_path: 'b/c.txt' });
    expect(returnDisplay).toBe('Created b/c.txt');
    expect(await workspace.read('b/c.txt')).toBe('new');
  });

  it('does not overwrite a file with an empty old_string', async () => {
    await workspace.write('a.txt', 'old');
    expect((await change('', 'new')).error?.message).toContain('but a.txt exists');
    expect(await workspace.read('a.txt')).toBe('old');
  });

  it('refuses a change that changes nothing', async () => {
    await workspace.write('a.txt', 'a');
    expect((await change('a', 'a')).error?.type).toBe(ToolErrorType.InvalidParams);
  });

  it('refuses a file that does not exist or is not text', async () => {
    expect((await change('a', 'b')).error?.message).toBe('a.txt does not exist.');
    await workspace.write('a.txt', Uint8Array.of(0x61, 0xff));
    expect((await change('a', 'b')).error?.message).toBe('a.txt is not UTF-8 text.');
  });
});
