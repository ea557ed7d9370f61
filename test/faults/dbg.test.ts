import { execSync } from 'node:child_process';
import { vi, expect } from 'vitest';
import { hook } from '../helpers/hooks.js';
import { fault } from './helpers/host.js';
import { findProcesses } from './helpers/leftovers.js';
import { countWarmShells } from '../../src/process/warmShells.js';
for (let i = 0; i < 150; i++) {
  fault(`x ${i}`, async ({ host }) => {
    const config = host.createConfig({ hooks: { BeforeTool: [{ hooks: [hook('exit 2')] }] } });
    for (let call = 0; call < 3; call++) await host.callToolOf(config);
    await config.getHookSystem()?.dispose();
    try {
      await vi.waitFor(() => expect(findProcesses(host.runId)).toEqual([]), {
        timeout: 1000,
        interval: 20,
      });
    } catch (e) {
      for (const pid of findProcesses(host.runId)) {
        console.log(
          countWarmShells(),
          countWarmShells(host.directory),
          host.runId,
          execSync(
            `cat /proc/${pid}/cmdline | tr '\\0' ' ' | head -c 600; echo; cat /proc/${pid}/wchan; grep -E 'State|PPid|SigQ' /proc/${pid}/status; ls -l /proc/${pid}/fd; tr '\\0' '\\n' </proc/${pid}/environ | grep HOOKSTACK; ss -xp | grep pid=${pid} || true`,
          ).toString(),
        );
      }
      throw e;
    }
  });
}
