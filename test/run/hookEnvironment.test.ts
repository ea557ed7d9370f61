import { afterEach, expect, it, vi } from 'vitest';
import { buildHookEnvironment } from '../../src/run/preparedInput.js';

const policy = {};
const build = () => buildHookEnvironment(policy, '/project');

afterEach(() => vi.unstubAllEnvs());

it('is the same object for as long as nothing has changed', () => {
  expect(build()).toBe(build());
});

it.each([
  ['is set', undefined, 'new'],
  ['changes', 'old', 'new'],
  ['is removed', 'old', undefined],
  ['becomes empty', 'old', ''],
])('is made anew when a variable %s', (_, before, after) => {
  vi.stubEnv('CI_MARK', before);
  const known = build();
  expect(known['CI_MARK']).toBe(before);
  vi.stubEnv('CI_MARK', after);
  expect(build()['CI_MARK']).toBe(after);
  expect(known['CI_MARK']).toBe(before);
});

it('is made anew when one variable takes the place of another', () => {
  vi.stubEnv('CI_MARK', 'value');
  build();
  vi.stubEnv('CI_MARK', undefined);
  vi.stubEnv('CI_OTHER', 'value');
  expect(build()).toMatchObject({ CI_OTHER: 'value' });
  expect(build()).not.toHaveProperty('CI_MARK');
});

it('is not that of another project or policy', () => {
  vi.stubEnv('CI_TOKEN', 'secret');
  expect(build()['CI_TOKEN']).toBe('secret');
  expect(buildHookEnvironment(policy, '/other')['LLXPRT_PROJECT_DIR']).toBe('/other');
  expect(buildHookEnvironment({ redact: ['*_TOKEN'] }, '/project')).not.toHaveProperty('CI_TOKEN');
});
