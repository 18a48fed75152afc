import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { childrenOf } from '../../../../services/runner/kernel/processes.ts';

describe.runIf(process.platform === 'linux')('childrenOf', () => {
  it('returns the running children of a process', () => {
    const child = spawn('sleep', ['60']);
    expect(childrenOf(process.pid)).toContain(child.pid);
    child.kill();
  });

  it('returns no child of process 0, so that the first process of the machine is never killed', () => {
    expect(childrenOf(0)).toEqual([]);
  });
});
