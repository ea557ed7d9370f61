import * as fc from 'fast-check';
import { it } from 'vitest';
import * as library from '../../src/index.js';
import { hostileProject, HostileProjects } from '../faults/hostileProjects.mjs';

// More of them: node test/faults/hostileProjects.mjs --runs 10000
it('whatever a project brings, the guards of the user decide as they do without it', async () => {
  const projects = await HostileProjects.open(library);
  try {
    const property = fc.asyncProperty(hostileProject, (project) => projects.check(project));
    await fc.assert(property, { numRuns: 100 });
  } finally {
    await projects.close();
  }
}, 120_000);
