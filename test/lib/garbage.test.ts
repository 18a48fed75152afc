import { describe, expect, it } from 'vitest';
import { letPass } from '../../lib/garbage.ts';

const MIB = 1024 * 1024;

describe('letPass', () => {
  it('keeps what has gone by from piling up, and what is still held from being lost', async () => {
    const held = Buffer.alloc(MIB, 7);
    let most = 0;
    for (let i = 0; i < 400; i++) {
      const passing = Buffer.allocUnsafeSlow(MIB);
      letPass(passing.length);
      most = Math.max(most, process.memoryUsage().arrayBuffers);
    }
    expect(most).toBeLessThan(64 * MIB);
    expect(held.every((byte) => byte === 7)).toBe(true);
    expect('gc' in globalThis).toBe(false);
  });
});
