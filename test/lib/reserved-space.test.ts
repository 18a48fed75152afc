import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { refuse } from '../../lib/errors.ts';
import { ReservedSpace } from '../../lib/reserved-space.ts';
import { createFakeClock } from '../support/clock.ts';
import { advanceUntil } from '../support/wait.ts';

const MIB = 1024 * 1024;
const full = () => refuse('STORAGE_FULL', 'The database has no space left.');

describe('ReservedSpace', () => {
  it('frees its space in two parts for operations that fail on a full disk, and reserves it again', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'ahs-reserved-'));
    const path = join(directory, 'reserved');
    const clock = createFakeClock();
    const failures: unknown[] = [];
    const space = await ReservedSpace.open({ path, clock, onFailure: (error) => failures.push(error) });
    try {
      expect(statSync(path).size).toBe(32 * MIB);
      const sizes: number[] = [];
      const failing = (times: number, error: Error) => async () => {
        sizes.push(statSync(path).size / MIB);
        if (sizes.length <= times) throw error;
        return 'done';
      };
      // The audit log reports its own failure as the cause.
      const unrecorded = refuse('DEPENDENCY_UNAVAILABLE', 'It was not recorded.', { cause: full() });
      expect(await space.use(failing(1, unrecorded))).toBe('done');
      expect(sizes.splice(0)).toEqual([32, 16]);
      await expect(space.use(failing(9, full()))).rejects.toMatchObject({ code: 'STORAGE_FULL' });
      expect(sizes.splice(0)).toEqual([16, 0]);
      await advanceUntil(
        'the space is reserved again',
        () => clock.advance(1_000),
        () => statSync(path).size === 32 * MIB,
      );
      await expect(space.use(failing(9, refuse('INTERNAL', 'It failed.')))).rejects.toMatchObject({
        code: 'INTERNAL',
      });
      expect(sizes).toEqual([32]);
      expect(failures).toEqual([]);
    } finally {
      await space.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
