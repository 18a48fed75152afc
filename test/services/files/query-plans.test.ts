import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queryPlansOf } from '../../support/query-plans.ts';
import { runOn } from '../../support/sql.ts';
import { type FilesSystem, list, OWNER, ofSession, openFilesSystem, pathsOf, write } from './system.ts';

/*
 * No statement of the files service scans a whole table: the cost of a call does not grow with data that it does not
 * return.
 */

const FILES = 100_000;
const OTHERS = 2_000;
/** Partial indexes of pending work. They are short and read from their start. */
const SHORT = [
  'contents_to_delete',
  'workspaces_to_trim',
  'workspaces_to_purge',
  'deliveries_due',
  'idempotency_keys_by_age',
  'unconfirmed_sessions_to_check',
  'uploads_to_expire',
];
const TABLES = [
  'workspaces',
  'entries',
  'contents',
  'changes',
  'deliveries',
  'versions',
  'fences',
  'parts',
  'uploads',
];

const CURRENT = Number.MAX_SAFE_INTEGER;

/** One workspace of 100,000 files in a thousand directories, and many small ones. */
const fill = (workspaceId: string) => `
  set search_path = files;
  insert into entries (workspace_id, path, directory, from_version, to_version, kind, content_id, size, sha256,
                       executable, target, modified_at)
    select '${workspaceId}', 'd' || (i % 1000) || '/f' || i, 'd' || (i % 1000), 1, ${CURRENT}, 'file', 'cnt_' || i, 1,
      repeat('0', 64), false, '', now() from generate_series(1, ${FILES}) i;
  insert into entries (workspace_id, path, directory, from_version, to_version, kind, content_id, size, sha256,
                       executable, target, modified_at)
    select '${workspaceId}', 'd' || i, '', 1, ${CURRENT}, 'directory', null, 0, '', false, '', now()
    from generate_series(0, 999) i;
  insert into workspaces (workspace_id, owner_id, version, parent_id, parent_version, created_at, updated_at, deleted_at)
    select 'wsp_' || i, 'usr_' || (i % 10), 1, case when i % 10 = 1 then 'wsp_' || (i - 1) end,
      case when i % 10 = 1 then 1 end, now(), now(), case when i % 100 = 5 then now() end
    from generate_series(1, ${OTHERS}) i;
  insert into entries (workspace_id, path, directory, from_version, to_version, kind, content_id, size, sha256,
                       executable, target, modified_at)
    select 'wsp_' || i, 'f' || j, '', j, case when j % 3 = 0 then j + 1 else ${CURRENT} end, 'file',
      'cnt_' || (i * 10 + j), 1, '', false, '', now()
    from generate_series(1, ${OTHERS}) i, generate_series(1, 10) j;
  insert into contents (content_id, owner_id, sha256, size, object_key, checks, created_at, check_at, doomed_at,
                        deleting_at, scrubbed_at)
    select 'cnt_' || i, 'usr_' || (i % 10), lpad(i::text, 64, '0'), 1, lpad(i::text, 40, '0'), '', now(),
      case when i % 100 = 0 then now() + interval '1 d' end, null, case when i % 1000 = 7 then now() end,
      now() - interval '1 h' * (i % 100)
    from generate_series(1, ${FILES}) i;
  insert into changes (workspace_id, seq, workspace_version, kind, path, entry_kind, size, sha256, executable, target,
                       modified_at, session_id, user_id, created_at)
    select 'wsp_' || (1 + i % ${OTHERS}), i, i / 10, 'created', 'f' || i, 'file', 1, '', false, '', now(),
      'ses_' || (i % 100), '', now() - interval '1 m' * i
    from generate_series(1, 20000) i;
  insert into versions select workspace_id, v, 1, 1, 1 from workspaces, generate_series(2, 6) v;
  insert into deliveries select 'wsp_' || i, 'ses_' || i, 0, now() + interval '1 h', 0 from generate_series(1, ${OTHERS}) i;
  insert into fences select 'wsp_' || i, 'ses_' || i, 1 from generate_series(1, ${OTHERS}) i;
  insert into parts (session_id, sha256, owner_id, content_id, size, media_type, name, created_at)
    select 'ses_' || (i % ${OTHERS}), lpad(i::text, 64, '0'), 'usr_' || (i % 10), 'cnt_' || i, 1, 'image/png', '', now()
    from generate_series(1, 20000) i;
  insert into uploads (upload_id, owner_id, content_id, sha256, size, media_type, name, created_at, expires_at)
    select 'upl_' || i, 'usr_' || (i % 10), 'cnt_' || i, lpad(i::text, 64, '0'), 1, 'image/png', '', now(),
      now() + interval '1 m' * i
    from generate_series(1, 20000) i;
  insert into unconfirmed_sessions select 'ses_' || i, now() + interval '1 h' from generate_series(1, ${OTHERS}) i;
  analyze;`;

describe('the query plans of the files service', () => {
  let system: FilesSystem;
  let sessionId = '';
  beforeAll(async () => {
    system = await openFilesSystem();
    sessionId = system.fakes.session();
    await write(system.edge, ofSession(sessionId), { first: 'one' });
    await runOn(system.database.url, fill(`wsp_${sessionId.slice(4)}`));
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('use an index for every statement', async () => {
    const plans = queryPlansOf(system.database.url, 'files');
    expect(plans.statements().length).toBeGreaterThan(45);
    expect(await plans.wholeScans(TABLES, SHORT)).toEqual([]);
  });

  it('read a bounded number of blocks for any page of a large workspace or its fork', async () => {
    const { blocksOf } = queryPlansOf(system.database.url, 'files');
    const forkId = system.fakes.session();
    const request = { fromSessionId: sessionId, version: undefined, toSessionId: forkId };
    await system.sessions.forkWorkspace(request, { caller: OWNER });
    await write(system.edge, ofSession(forkId), { 'd500/new': 'in the fork' });
    const [own, fork] = [`wsp_${sessionId.slice(4)}`, `wsp_${forkId.slice(4)}`];
    for (const [ids, versions] of [
      [[own], [1]],
      [
        [fork, own],
        [2, 1],
      ],
    ] as const) {
      const layers = [`'{${ids}}'::text[]`, `'{${versions}}'::bigint[]`];
      for (const last of ['', 'd1', 'd500', 'd999']) {
        expect(await blocksOf('files.in_directory', [...layers, "''", `'${last}'`, '101'])).toBeLessThan(500);
        expect(await blocksOf('files.below', [...layers, `'${last}'`, "'~'", '101'])).toBeLessThan(500);
      }
      for (const last of ['', 'd500/f50500']) {
        expect(await blocksOf('files.in_directory', [...layers, "'d500'", `'${last}'`, '101'])).toBeLessThan(
          500,
        );
      }
      expect(await blocksOf('files.at_paths', [...layers, "'{d7/f7,d500,nowhere}'::text[]"])).toBeLessThan(
        100,
      );
    }
    const inFork = pathsOf(await list(system.edge, ofSession(forkId), 'd500', false));
    expect(inFork).toHaveLength(FILES / 1_000 + 1);
    expect(inFork.at(-1)).toBe('d500/new');
  });
});
