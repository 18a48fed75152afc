import { describe, expect, it } from 'vitest';
import { startsOneService } from '../../../services/bootstrap/target.ts';

describe('startsOneService', () => {
  it.each([
    { args: ['--target=sessions'], expected: true },
    { args: ['--target', 'auth'], expected: true },
    { args: ['--target=edge'], expected: false },
    { args: ['--target=all'], expected: false },
    { args: [], expected: false },
    { args: ['--target=unknown'], expected: false },
  ])('is $expected for the arguments $args', ({ args, expected }) => {
    expect(startsOneService(args)).toBe(expected);
  });
});
