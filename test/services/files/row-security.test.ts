import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withPrefix } from '../../../lib/ids.ts';
import { createChangeFeed } from '../../../services/files/store/change-feed.ts';
import { createContents } from '../../../services/files/store/contents.ts';
import { createParts } from '../../../services/files/store/parts.ts';
import { createWorkspaceReads } from '../../../services/files/store/reads.ts';
import { createTree } from '../../../services/files/store/tree.ts';
import { createUploads } from '../../../services/files/store/uploads.ts';
import {
  ALICE,
  BOB,
  openRowLevelSecurity,
  type RowLevelSecurityFixture,
  undeclaredStatement,
} from '../../support/row-level-security.ts';
import { runOn } from '../../support/sql.ts';

const HERS = 'wsp_0000000000000000000000000A';
const HIS = 'wsp_0000000000000000000000000B';
const TABLES = ['changes', 'contents', 'entries', 'parts', 'uploads', 'workspaces'];

const uploadOf = (workspaceId: string) => withPrefix('upl', workspaceId);
const sessionOf = (workspaceId: string) => withPrefix('ses', workspaceId);

/** The member that identifies the row of a user in each table. */
const rowOf = (table: string, letter: string, workspaceId: string) =>
  table === 'contents' || table === 'uploads'
    ? { content_id: `cnt_${letter}` }
    : table === 'parts'
      ? { session_id: sessionOf(workspaceId) }
      : { workspace_id: workspaceId };

const rowsOf = (workspaceId: string, owner: string) => {
  const letter = workspaceId.slice(-1);
  return `
    insert into workspaces (workspace_id, owner_id, version, last_seq, created_at, updated_at)
      values ('${workspaceId}', '${owner}', 1, 1, now(), now());
    insert into contents (content_id, owner_id, sha256, size, object_key, checks, created_at, scrubbed_at)
      values ('cnt_${letter}', '${owner}', '${letter}', 1, 'key ${letter}', '', now(), now());
    insert into entries (workspace_id, path, directory, from_version, to_version, kind, content_id, size, sha256,
                         executable, target, modified_at)
      values ('${workspaceId}', '${letter}.txt', '', 1, 9007199254740991, 'file', 'cnt_${letter}', 1, '${letter}', false, '',
              now());
    insert into versions (workspace_id, version, files, directories, bytes) values ('${workspaceId}', 1, 1, 0, 1);
    insert into changes (workspace_id, seq, workspace_version, kind, path, entry_kind, size, sha256, executable, target,
                         modified_at, session_id, user_id, created_at)
      values ('${workspaceId}', 1, 1, 'created', '${letter}.txt', 'file', 1, '', false, '', now(), '', '${owner}', now());
    insert into uploads (upload_id, owner_id, content_id, sha256, size, media_type, name, created_at, expires_at)
      values ('${uploadOf(workspaceId)}', '${owner}', 'cnt_${letter}', '${letter}', 1, 'text/plain', '', now(), 'infinity');
    insert into parts (session_id, sha256, owner_id, content_id, size, media_type, name, created_at)
      values ('${sessionOf(workspaceId)}', '${letter}', '${owner}', 'cnt_${letter}', 1, 'text/plain', '', now());
    insert into unconfirmed_sessions (session_id, check_at) values ('${sessionOf(workspaceId)}', now());
    insert into owners (owner_id, bytes) values ('${owner}', 1);`;
};

describe('row-level security of the files schema', () => {
  let security: RowLevelSecurityFixture;
  beforeAll(async () => {
    security = await openRowLevelSecurity('files');
    await runOn(security.url, `set search_path = files; ${rowsOf(HERS, ALICE)} ${rowsOf(HIS, BOB)}`);
  });
  afterAll(() => security?.[Symbol.asyncDispose]());

  it('is enabled on all tables', async () => {
    expect(await security.tablesWithoutPolicies()).toEqual([]);
    expect(await security.readableTables()).toEqual(TABLES);
  });

  it.each(TABLES)('shows users only their own rows of %s, and no rows without a user', async (table) => {
    const mark = (letter: string, workspaceId: string) => rowOf(table, letter, workspaceId);
    expect(await security.rowsVisibleTo(table, ALICE)).toEqual([expect.objectContaining(mark('A', HERS))]);
    expect(await security.rowsVisibleTo(table, BOB)).toEqual([expect.objectContaining(mark('B', HIS))]);
    expect(await security.rowsVisibleWithoutUser(table)).toEqual([]);
  });

  it('hides rows of one user from every read statement of another user', async () => {
    const reads = createWorkspaceReads(security.db);
    const contents = createContents(security.db);
    const located = { workspaceId: HERS, ownerId: ALICE, sessionId: '', readOnly: false, foreign: false };
    const layers = { ids: [HIS, HERS], versions: [1, 1] };
    const now = new Date();
    const read = async (userId: string) => {
      const by = { viewer: { userId } };
      const snapshot = await reads.snapshot(located, undefined, by);
      const page = { limit: 10, cursor: '' };
      return {
        version: snapshot.version,
        listed: (await reads.list(located, snapshot, '', true, page, by)).rows.length,
        merged: (await createTree(security.db).page(layers, '', '', true, 10, by)).map(({ path }) => path),
        content: (await contents.content('cnt_A', by))?.contentId,
        part: (await createParts(security.db).part(sessionOf(HERS), 'A', by))?.contentId,
        uploads: [
          ...(await createUploads(security.db).ofOwner(ALICE, [HERS, HIS].map(uploadOf), now, by)).keys(),
        ],
        contents: [...(await contents.contents(['cnt_A', 'cnt_B'], by)).keys()],
        changes: (await createChangeFeed(security.db).after(HERS, 0, 10, by)).length,
        paths: (await reads.changedPaths(HERS, 0, 1, by)).length,
      };
    };
    expect(await read(BOB)).toEqual({
      version: 0,
      listed: 0,
      merged: ['B.txt'],
      content: undefined,
      part: undefined,
      uploads: [],
      contents: ['cnt_B'],
      changes: 0,
      paths: 0,
    });
    expect(await read(ALICE)).toEqual({
      version: 1,
      listed: 1,
      merged: ['A.txt'],
      content: 'cnt_A',
      part: 'cnt_A',
      uploads: [uploadOf(HERS)],
      contents: ['cnt_A'],
      changes: 1,
      paths: 1,
    });
  });

  it.each([
    'update files.workspaces set version = 0',
    'delete from files.entries',
    'update files.contents set owner_id = owner_id',
    'delete from files.owners',
    'delete from files.parts',
    'update files.uploads set owner_id = owner_id',
  ])('refuses changes on behalf of a user: %s', async (text) => {
    const change = security.db.change(undeclaredStatement(text), [], { viewer: { userId: BOB } });
    await expect(change).rejects.toThrow('permission denied');
  });
});
