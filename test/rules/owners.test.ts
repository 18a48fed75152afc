import { describe, expect, it } from 'vitest';
import { ownerProblems } from '../../scripts/owners/coverage.ts';

const OWNERS = '* @ahs/platform\n/lib/ @ahs/platform\n/services/files/ @ahs/files # uploads\n';

describe('CODEOWNERS', () => {
  it('is complete when every folder has an entry', () => {
    expect(ownerProblems(OWNERS, ['README.md', 'lib/ids.ts', 'services/files/store/rows.ts'])).toEqual([]);
  });

  it('names a folder that no entry covers', () => {
    expect(
      ownerProblems(OWNERS, ['lib/ids.ts', 'services/files/a.ts', 'services/auth/a.ts', 'edge/a.ts']),
    ).toEqual(['edge/: no entry covers this folder', 'services/auth/: no entry covers this folder']);
  });

  it('names an entry that matches no file', () => {
    expect(ownerProblems(OWNERS, ['lib/ids.ts'])).toEqual(['/services/files/: no file is at this path']);
  });

  it('names an entry without an owner', () => {
    expect(ownerProblems('/lib/\n', ['lib/ids.ts'])).toEqual(['/lib/: no owner']);
  });
});
