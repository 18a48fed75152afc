import { expect, it } from 'vitest';
import { scheduleRounds } from '../chaos/schedules.ts';

it('finds the times of generated schedules around every change of ten years', { timeout: 300_000 }, () => {
  const { zones, times, differences } = scheduleRounds(3, 22);
  expect(differences).toEqual([]);
  expect(zones).toBe(3);
  expect(times).toBeGreaterThan(10_000);
});
