import { describe, expect, it } from 'vitest';
import { noteBufferBytes } from '../../lib/garbage-collection.ts';

const MIB = 1024 * 1024;

describe('noteBufferBytes', () => {
  it('frees unused buffers early and keeps referenced ones', async () => {
    const buffer = Buffer.alloc(MIB, 7);
    // Other test files of this process leave buffers behind.
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (let i = 0; i < 400; i++) {
      const passing = Buffer.allocUnsafeSlow(MIB);
      noteBufferBytes(passing.length);
      most = Math.max(most, process.memoryUsage().arrayBuffers);
    }
    expect(most - before).toBeLessThan(64 * MIB);
    expect(buffer.every((byte) => byte === 7)).toBe(true);
    expect('gc' in globalThis).toBe(false);
  });
});
