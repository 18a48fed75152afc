import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { patterned } from '../../support/blobs.ts';
import { TRANSPORTS } from '../../support/context.ts';
import {
  Copy,
  change,
  type House,
  link,
  list,
  MIB,
  mkdir,
  move,
  OWNER,
  ofSession,
  openHouse,
  put,
  readText,
  remove,
  sha256,
  treeOf,
  upload,
  workspaceOf,
  write,
} from './house.ts';

describe.each(TRANSPORTS)('the workspace of a turn, %s', (transport) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(transport);
  });
  afterAll(() => house[Symbol.asyncDispose]());

  function begin(): { sessionId: string; lease: Lease } {
    const sessionId = house.neighbours.session();
    return { sessionId, lease: house.neighbours.lease(sessionId) };
  }

  const attach = async (lease: Lease) =>
    (await house.runner.attachWorkspace({ place: ofSession(lease.sessionId), lease })).workspace;

  describe('AttachWorkspace', () => {
    it('says how the workspace is, before there is one, too', async () => {
      const { sessionId, lease } = begin();
      expect(await attach(lease)).toMatchObject({ workspaceId: workspaceOf(sessionId), version: 0 });
      await write(house.runner, ofSession(sessionId), { a: 'one' }, { lease });
      expect(await attach(lease)).toMatchObject({ version: 1, files: 1 });
    });

    it('ends what an older lease may do, even where sessions still believe in that', async () => {
      const { sessionId, lease: older } = begin();
      const place = ofSession(sessionId);
      const [content] = await upload(house.runner, place, ['late'], {}, older);
      await write(house.runner, place, { a: 'one' }, { lease: older });
      const younger = house.neighbours.lease(sessionId);
      const lost = { code: 'LEASE_LOST' };
      await expect(write(house.runner, place, { a: 'late' }, { lease: older })).rejects.toMatchObject(lost);
      await attach(younger);
      house.neighbours.believe(older);
      await expect(
        change(house.runner, place, [put('a', content!.contentId)], { lease: older }),
      ).rejects.toMatchObject(lost);
      await expect(attach(older)).rejects.toMatchObject(lost);
      house.neighbours.believe(younger);
      await write(house.runner, place, { a: 'two' }, { lease: younger });
      expect(await readText(house.edge, place, 'a')).toBe('two');
    });

    it('comes after a change or before it, never into its middle', async () => {
      for (let round = 0; round < 10; round++) {
        const { sessionId, lease: older } = begin();
        const place = ofSession(sessionId);
        const [content] = await upload(house.runner, place, ['late'], {}, older);
        const changing = change(house.runner, place, [put('a', content!.contentId)], { lease: older }).then(
          () => 'made',
          ({ code }: { code: string }) => code,
        );
        // Sessions believe in both for a moment.
        const younger = { ...older, fence: older.fence + 1, turnId: older.turnId };
        house.neighbours.believe(younger);
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
      const place = ofSession(house.neighbours.session());
      const refused = house.runner.attachWorkspace({ place, lease: undefined }, { caller: OWNER });
      await expect(refused).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    });
  });

  describe('what a runner does under its lease', () => {
    it('needs no user, and is said to be the agent’s', async () => {
      const { sessionId, lease } = begin();
      const place = ofSession(sessionId);
      await write(house.runner, place, { a: 'by the agent' }, { lease });
      expect(await readText(house.runner, place, 'a', { lease })).toBe('by the agent');
      const page = { limit: 10, cursor: '' };
      const listed = await house.runner.listEntries({ place, lease, page, path: '', recursive: true });
      expect(listed.entries).toMatchObject([{ path: 'a' }]);
      expect((await house.runner.getEntry({ place, lease, path: 'a' })).version).toBe(1);
      expect(house.neighbours.told(sessionId)).toMatchObject([{ type: 'file.created', userId: '' }]);
    });

    it('is done once per key, whichever runner asks', async () => {
      const { sessionId, lease } = begin();
      const place = ofSession(sessionId);
      const first = await write(house.runner, place, { a: 'one' }, { lease, key: 'turn-tool' });
      const younger = house.neighbours.lease(sessionId);
      await write(house.runner, place, { a: 'two' }, { lease: younger });
      const again = await write(house.runner, place, { a: 'one' }, { lease: younger, key: 'turn-tool' });
      expect(again).toEqual({ ...first, replayed: true });
      expect(await readText(house.edge, place, 'a')).toBe('two');
    });

    it('is not done under the lease of another session', async () => {
      const { lease } = begin();
      const other = ofSession(house.neighbours.session());
      await expect(write(house.runner, other, { a: 'one' }, { lease })).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
      });
    });
  });

  describe('Checkout', () => {
    it('gives the whole tree, and then only what is new', async () => {
      const { sessionId, lease } = begin();
      const place = ofSession(sessionId);
      const copy = new Copy();
      expect((await copy.checkout(house.runner, lease)).tree).toEqual({});
      const big = patterned(3 * MIB + 5)
        .toString('hex')
        .slice(0, 3 * MIB + 5);
      await write(house.edge, place, { a: 'one', 'd/b': 'two', 'd-e': 'three', empty: '', big });
      await change(house.edge, place, [link('d/l', '/etc/passwd')]);
      await new Copy().checkout(house.runner, lease);
      const fresh = await new Copy().checkout(house.runner, lease);
      expect(fresh.whole).toBe(true);
      expect(fresh.tree).toEqual(await treeOf(house.edge, place));
      expect(sha256(fresh.tree.big!)).toBe(sha256(big));
      await write(house.edge, place, { a: 'changed', 'd/new/c': 'new' });
      await change(house.edge, place, [remove('d-e'), move('d/b', 'moved')]);
      await fresh.checkout(house.runner, lease);
      expect(fresh.whole).toBe(false);
      expect(fresh.came).toEqual(['a', 'd/new', 'd/new/c', 'moved']);
      expect(fresh.tree).toEqual(await treeOf(house.edge, place));
      await fresh.checkout(house.runner, lease);
      expect(fresh.came).toEqual([]);
    });

    it('gives a directory that became a file, and the other way round', async () => {
      const { sessionId, lease } = begin();
      const place = ofSession(sessionId);
      await write(house.edge, place, { 'd/x': 'one', f: 'file', 'k/1': 'k', 'k/2': 'k' });
      const copy = await new Copy().checkout(house.runner, lease);
      await change(house.edge, place, [remove('d'), remove('f'), remove('k')]);
      await write(house.edge, place, { d: 'a file now', 'f/y': 'in a directory now', 'k/2': 'again' });
      await copy.checkout(house.runner, lease);
      expect(copy.tree).toEqual(await treeOf(house.edge, place));
      expect(copy.tree).toEqual({
        d: 'a file now',
        f: '/',
        'f/y': 'in a directory now',
        k: '/',
        'k/2': 'again',
      });
    });

    it('gives the whole tree to whoever has another workspace, or a version that is not there', async () => {
      const { sessionId, lease } = begin();
      await write(house.edge, ofSession(sessionId), { a: 'one' });
      const other = new Copy();
      other.workspaceId = workspaceOf(house.neighbours.session());
      other.version = 1;
      expect((await other.checkout(house.runner, lease)).whole).toBe(true);
      const ahead = new Copy();
      ahead.workspaceId = workspaceOf(sessionId);
      ahead.version = 7;
      expect((await ahead.checkout(house.runner, lease)).whole).toBe(true);
      expect(ahead.tree).toEqual({ a: 'one' });
    });

    it('gives a fork with what it shows, and then what is new in it', async () => {
      const { sessionId } = begin();
      await write(house.edge, ofSession(sessionId), { 'd/a': 'one', b: 'two' });
      const forkId = house.neighbours.session();
      const request = { fromSessionId: sessionId, version: undefined, toSessionId: forkId };
      await house.sessions.forkWorkspace(request, { caller: OWNER });
      const lease = house.neighbours.lease(forkId);
      const copy = await new Copy().checkout(house.runner, lease);
      expect(copy.tree).toEqual({ d: '/', 'd/a': 'one', b: 'two' });
      await change(house.edge, ofSession(forkId), [remove('d/a'), mkdir('e')]);
      await copy.checkout(house.runner, lease);
      expect(copy.tree).toEqual({ d: '/', b: 'two', e: '/' });
      expect(copy.came).toEqual(['e']);
    });

    it('gives one version, while others change it', async () => {
      const { sessionId, lease } = begin();
      const place = ofSession(sessionId);
      const texts = (round: number) =>
        Object.fromEntries(
          Array.from({ length: 300 }, (_, index) => [`d${index % 7}/f${index}`, `${round}`]),
        );
      await write(house.edge, place, texts(0));
      const copy = await new Copy().checkout(house.runner, lease);
      const changing = (async () => {
        for (let round = 1; round <= 5; round++) await write(house.edge, place, texts(round));
      })();
      for (let time = 0; time < 5; time++) {
        await copy.checkout(house.runner, lease);
        const values = new Set(Object.values(copy.tree).filter((text) => text !== '/'));
        expect(values.size).toBe(1);
      }
      await changing;
      await copy.checkout(house.runner, lease);
      expect(copy.tree).toEqual(await treeOf(house.edge, place));
    });

    it('lets who leaves early leave', async () => {
      const { sessionId, lease } = begin();
      const place = ofSession(sessionId);
      await write(house.edge, place, { a: patterned(5 * MIB), b: 'two' });
      const request = { place, lease, haveVersion: undefined, haveWorkspaceId: '' };
      for await (const { kind } of house.runner.checkout(request)) if (kind?.$case === 'bytes') break;
      expect(await list(house.edge, place)).toHaveLength(2);
    });
  });
});
