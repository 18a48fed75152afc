import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { patternBytes } from '../../support/blob-conformance.ts';
import { TRANSPORTS } from '../../support/context.ts';
import {
  change,
  type FilesSystem,
  link,
  list,
  MIB,
  mkdir,
  move,
  OWNER,
  ofSession,
  openFilesSystem,
  put,
  readText,
  remove,
  sha256,
  treeOf,
  upload,
  WorkspaceCopy,
  workspaceOf,
  write,
} from './system.ts';

describe.each(TRANSPORTS)('the workspace of a turn, %s', (transport) => {
  let system: FilesSystem;
  beforeAll(async () => {
    system = await openFilesSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  function begin(): { sessionId: string; lease: Lease } {
    const sessionId = system.fakes.session();
    return { sessionId, lease: system.fakes.lease(sessionId) };
  }

  const attach = async (lease: Lease) =>
    (await system.runner.attachWorkspace({ place: ofSession(lease.sessionId), lease })).workspace;

  describe('AttachWorkspace', () => {
    it('returns the state of the workspace, also before its first change', async () => {
      const { sessionId, lease } = begin();
      expect(await attach(lease)).toMatchObject({ workspaceId: workspaceOf(sessionId), version: 0 });
      await write(system.runner, ofSession(sessionId), { a: 'one' }, { lease });
      expect(await attach(lease)).toMatchObject({ version: 1, files: 1 });
    });

    it('refuses changes under an older lease, even if sessions still accept that lease', async () => {
      const { sessionId, lease: older } = begin();
      const place = ofSession(sessionId);
      const [content] = await upload(system.runner, place, ['late'], {}, older);
      await write(system.runner, place, { a: 'one' }, { lease: older });
      const younger = system.fakes.lease(sessionId);
      const lost = { code: 'LEASE_LOST' };
      await expect(write(system.runner, place, { a: 'late' }, { lease: older })).rejects.toMatchObject(lost);
      await attach(younger);
      system.fakes.restore(older);
      await expect(
        change(system.runner, place, [put('a', content!.contentId)], { lease: older }),
      ).rejects.toMatchObject(lost);
      await expect(attach(older)).rejects.toMatchObject(lost);
      system.fakes.restore(younger);
      await write(system.runner, place, { a: 'two' }, { lease: younger });
      expect(await readText(system.edge, place, 'a')).toBe('two');
    });

    it('runs before or after a concurrent change, never during it', async () => {
      for (let round = 0; round < 10; round++) {
        const { sessionId, lease: older } = begin();
        const place = ofSession(sessionId);
        const [content] = await upload(system.runner, place, ['late'], {}, older);
        const changing = change(system.runner, place, [put('a', content!.contentId)], { lease: older }).then(
          () => 'made',
          ({ code }: { code: string }) => code,
        );
        // Sessions accept both leases for a moment.
        const younger = { ...older, fence: older.fence + 1, turnId: older.turnId };
        system.fakes.restore(younger);
        const seen = await attach(younger);
        const outcome = await changing;
        const after = await attach(younger);
        expect(after?.version).toBe(outcome === 'made' ? 1 : 0);
        if (seen?.version === 0) expect(['made', 'LEASE_LOST']).toContain(outcome);
        else expect(outcome).toBe('made');
        expect(after?.version).toBe(seen?.version === 0 && outcome === 'LEASE_LOST' ? 0 : 1);
      }
    });

    it('is refused without a lease', async () => {
      const place = ofSession(system.fakes.session());
      const refused = system.runner.attachWorkspace({ place, lease: undefined }, { caller: OWNER });
      await expect(refused).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    });
  });

  describe('ChangeWorkspace under a lease', () => {
    it('needs no user and is attributed to the agent', async () => {
      const { sessionId, lease } = begin();
      const place = ofSession(sessionId);
      await write(system.runner, place, { a: 'by the agent' }, { lease });
      expect(await readText(system.runner, place, 'a', { lease })).toBe('by the agent');
      const page = { limit: 10, cursor: '' };
      const listed = await system.runner.listEntries({ place, lease, page, path: '', recursive: true });
      expect(listed.entries).toMatchObject([{ path: 'a' }]);
      expect((await system.runner.getEntry({ place, lease, path: 'a' })).version).toBe(1);
      expect(system.fakes.deliveredEvents(sessionId)).toMatchObject([{ type: 'file.created', userId: '' }]);
    });

    it('is applied once per idempotency key for all runners', async () => {
      const { sessionId, lease } = begin();
      const place = ofSession(sessionId);
      const first = await write(system.runner, place, { a: 'one' }, { lease, key: 'turn-tool' });
      const younger = system.fakes.lease(sessionId);
      await write(system.runner, place, { a: 'two' }, { lease: younger });
      const again = await write(system.runner, place, { a: 'one' }, { lease: younger, key: 'turn-tool' });
      expect(again).toEqual({ ...first, replayed: true });
      expect(await readText(system.edge, place, 'a')).toBe('two');
    });

    it('is refused under the lease of another session', async () => {
      const { lease } = begin();
      const other = ofSession(system.fakes.session());
      await expect(write(system.runner, other, { a: 'one' }, { lease })).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
      });
    });
  });

  describe('Checkout', () => {
    it('sends the whole tree first and only differences afterwards', async () => {
      const { sessionId, lease } = begin();
      const place = ofSession(sessionId);
      const copy = new WorkspaceCopy();
      expect((await copy.checkout(system.runner, lease)).tree).toEqual({});
      const big = patternBytes(3 * MIB + 5)
        .toString('hex')
        .slice(0, 3 * MIB + 5);
      await write(system.edge, place, { a: 'one', 'd/b': 'two', 'd-e': 'three', empty: '', big });
      await change(system.edge, place, [link('d/l', '/etc/passwd')]);
      await new WorkspaceCopy().checkout(system.runner, lease);
      const fresh = await new WorkspaceCopy().checkout(system.runner, lease);
      expect(fresh.whole).toBe(true);
      expect(fresh.tree).toEqual(await treeOf(system.edge, place));
      expect(sha256(fresh.tree.big!)).toBe(sha256(big));
      await write(system.edge, place, { a: 'changed', 'd/new/c': 'new' });
      await change(system.edge, place, [remove('d-e'), move('d/b', 'moved')]);
      await fresh.checkout(system.runner, lease);
      expect(fresh.whole).toBe(false);
      expect(fresh.received).toEqual(['a', 'd/new', 'd/new/c', 'moved']);
      expect(fresh.tree).toEqual(await treeOf(system.edge, place));
      await fresh.checkout(system.runner, lease);
      expect(fresh.received).toEqual([]);
    });

    it('sends a directory that became a file, and a file that became a directory', async () => {
      const { sessionId, lease } = begin();
      const place = ofSession(sessionId);
      await write(system.edge, place, { 'd/x': 'one', f: 'file', 'k/1': 'k', 'k/2': 'k' });
      const copy = await new WorkspaceCopy().checkout(system.runner, lease);
      await change(system.edge, place, [remove('d'), remove('f'), remove('k')]);
      await write(system.edge, place, { d: 'a file now', 'f/y': 'in a directory now', 'k/2': 'again' });
      await copy.checkout(system.runner, lease);
      expect(copy.tree).toEqual(await treeOf(system.edge, place));
      expect(copy.tree).toEqual({
        d: 'a file now',
        f: '/',
        'f/y': 'in a directory now',
        k: '/',
        'k/2': 'again',
      });
    });

    it('sends the whole tree to a caller with another workspace or an unknown version', async () => {
      const { sessionId, lease } = begin();
      await write(system.edge, ofSession(sessionId), { a: 'one' });
      const other = new WorkspaceCopy();
      other.workspaceId = workspaceOf(system.fakes.session());
      other.version = 1;
      expect((await other.checkout(system.runner, lease)).whole).toBe(true);
      const ahead = new WorkspaceCopy();
      ahead.workspaceId = workspaceOf(sessionId);
      ahead.version = 7;
      expect((await ahead.checkout(system.runner, lease)).whole).toBe(true);
      expect(ahead.tree).toEqual({ a: 'one' });
    });

    it('sends the entries that a fork shows, and then its differences', async () => {
      const { sessionId } = begin();
      await write(system.edge, ofSession(sessionId), { 'd/a': 'one', b: 'two' });
      const forkId = system.fakes.session();
      const request = { fromSessionId: sessionId, version: undefined, toSessionId: forkId };
      await system.sessions.forkWorkspace(request, { caller: OWNER });
      const lease = system.fakes.lease(forkId);
      const copy = await new WorkspaceCopy().checkout(system.runner, lease);
      expect(copy.tree).toEqual({ d: '/', 'd/a': 'one', b: 'two' });
      await change(system.edge, ofSession(forkId), [remove('d/a'), mkdir('e')]);
      await copy.checkout(system.runner, lease);
      expect(copy.tree).toEqual({ d: '/', b: 'two', e: '/' });
      expect(copy.received).toEqual(['e']);
    });

    it('sends one consistent version during concurrent changes', async () => {
      const { sessionId, lease } = begin();
      const place = ofSession(sessionId);
      const texts = (round: number) =>
        Object.fromEntries(
          Array.from({ length: 100 }, (_, index) => [`d${index % 7}/f${index}`, `${round}`]),
        );
      await write(system.edge, place, texts(0));
      const copy = await new WorkspaceCopy().checkout(system.runner, lease);
      const changing = (async () => {
        for (let round = 1; round <= 5; round++) await write(system.edge, place, texts(round));
      })();
      for (let time = 0; time < 5; time++) {
        await copy.checkout(system.runner, lease);
        const values = new Set(Object.values(copy.tree).filter((text) => text !== '/'));
        expect(values.size).toBe(1);
      }
      await changing;
      await copy.checkout(system.runner, lease);
      expect(copy.tree).toEqual(await treeOf(system.edge, place));
    });

    it('stops sending when the runner cancels', async () => {
      const { sessionId, lease } = begin();
      const place = ofSession(sessionId);
      await write(system.edge, place, { a: patternBytes(5 * MIB), b: 'two' });
      const request = { place, lease, haveVersion: undefined, haveWorkspaceId: '' };
      for await (const { kind } of system.runner.checkout(request)) if (kind?.$case === 'bytes') break;
      expect(await list(system.edge, place)).toHaveLength(2);
    });
  });
});
