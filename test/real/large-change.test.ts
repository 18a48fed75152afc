import { describe, expect, it } from 'vitest';
import { commitFiles } from '../services/files/commits.ts';
import { ofSession, openFilesSystem, workspace } from '../services/files/system.ts';
import { countOn } from '../support/sql.ts';

describe('CommitChanges of 200,001 paths', () => {
  it('changes nothing when the workspace may have 200,000 files', async () => {
    await using system = await openFilesSystem('gRPC', {}, { workspaceMaxFiles: 200_000 });
    const lease = system.fakes.lease(system.fakes.session());
    await expect(commitFiles(system, lease, 200_001)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    const after = await workspace(system.edge, ofSession(lease.sessionId));
    expect(after).toMatchObject({ version: 0, files: 0, lastSeq: 0 });
    expect(await countOn(system.database.url, 'select count(*) from files.entries')).toBe(0);
  });
});
