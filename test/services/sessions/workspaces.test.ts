import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FileEvent } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { passing } from '../../support/wait.ts';
import {
  COMPLETED,
  claimOne,
  converse,
  journalOf,
  OWNER,
  openHouse,
  reportOn,
  STRANGER,
  say,
  send,
} from './house.ts';

describe.each(TRANSPORTS)('workspaces of sessions, %s', (transport) => {
  let house: Awaited<ReturnType<typeof openHouse>>;
  const clock = createFakeClock();
  beforeAll(async () => {
    house = await openHouse(transport, { clock });
  });
  afterAll(() => house[Symbol.asyncDispose]());

  const eventOf = (seq: number, path = `file-${seq}`, userId = ''): FileEvent => ({
    seq,
    type: 'file.created',
    dataJson: JSON.stringify({ path, size: 1, sha256: 'aa', workspace_version: seq }),
    userId,
    createdAt: new Date('2026-11-21T10:00:00.000Z'),
  });

  const append = (sessionId: string, ...events: FileEvent[]) =>
    house.files.appendFileEvents({ sessionId, events });

  async function filesOf(sessionId: string) {
    const events = await journalOf(house, sessionId);
    return events.filter(({ type }) => type.startsWith('file.')).map(({ json }) => JSON.parse(json));
  }

  async function fork(sessionId: string, afterSeq: number): Promise<string> {
    const { session } = await house.edge.forkSession(
      { sessionId, afterSeq, idempotencyKey: '' },
      { caller: OWNER },
    );
    return session?.sessionId ?? '';
  }

  const lastSeqOf = async (sessionId: string) =>
    (await house.edge.getSession({ sessionId }, { caller: OWNER })).session?.lastSeq ?? 0;

  describe('LocateWorkspace', () => {
    it('tells whoever may see the session whose it is', async () => {
      const sessionId = await converse(house);
      const place = await house.files.locateWorkspace({ sessionId, lease: undefined }, { caller: OWNER });
      expect(place).toEqual({ ownerId: OWNER.userId, assistantId: '', readOnly: false, foreign: false });
      const foreign = house.files.locateWorkspace({ sessionId, lease: undefined }, { caller: STRANGER });
      await expect(foreign).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    });

    it('says that an archived one can only be read, and knows nothing of a deleted one', async () => {
      const sessionId = await converse(house);
      await house.edge.archiveSession({ sessionId }, { caller: OWNER });
      expect(
        await house.files.locateWorkspace({ sessionId, lease: undefined }, { caller: OWNER }),
      ).toMatchObject({
        readOnly: true,
      });
      await house.edge.deleteSession({ sessionId }, { caller: OWNER });
      const asked = house.files.locateWorkspace({ sessionId, lease: undefined }, { caller: OWNER });
      await expect(asked).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    });

    it('tells the holder of a turn, and nobody after it', async () => {
      await converse(house, 'hello');
      const turn = await claimOne(house);
      const { sessionId, turnId, fence } = turn;
      const locate = (lease = { sessionId, turnId, fence }) =>
        house.files.locateWorkspace({ sessionId, lease });
      expect(await locate()).toMatchObject({ ownerId: OWNER.userId });
      const older = locate({ sessionId, turnId, fence: fence - 1 });
      await expect(older).rejects.toMatchObject({ code: 'LEASE_LOST' });
      await send(house, reportOn(turn, 1, { outcome: COMPLETED }));
      await expect(locate()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    });
  });

  describe('AppendFileEvents', () => {
    it('puts changes into the journal, each once, in the name of who made them', async () => {
      const sessionId = await converse(house);
      await append(sessionId, eventOf(1, 'a', OWNER.userId), eventOf(2, 'b'));
      await append(sessionId, eventOf(2, 'b'), eventOf(3, 'c'));
      await append(sessionId, eventOf(1, 'a'));
      const files = await filesOf(sessionId);
      expect(files.map(({ data }) => data.path)).toEqual(['a', 'b', 'c']);
      expect(files.map(({ actor }) => actor.type)).toEqual(['user', 'agent', 'agent']);
      expect(files[0]).toMatchObject({ type: 'file.created', created_at: '2026-11-21T10:00:00.000Z' });
    });

    it('appends each once though many say it at the same time', async () => {
      const sessionId = await converse(house);
      const events = [1, 2, 3, 4, 5].map((seq) => eventOf(seq));
      await Promise.all(Array.from({ length: 8 }, () => append(sessionId, ...events)));
      expect((await filesOf(sessionId)).map(({ data }) => data.workspace_version)).toEqual([1, 2, 3, 4, 5]);
    });

    it('says that a session is gone', async () => {
      const sessionId = await converse(house);
      await house.edge.deleteSession({ sessionId }, { caller: OWNER });
      expect(await append(sessionId, eventOf(1))).toEqual({ gone: true });
    });
  });

  describe('ForkSession', () => {
    it('takes the workspace as it is now when nothing has happened since', async () => {
      const sessionId = await converse(house);
      await append(sessionId, eventOf(1));
      const forked = await fork(sessionId, await lastSeqOf(sessionId));
      expect(house.asked.forked.at(-1)).toEqual({
        fromSessionId: sessionId,
        toSessionId: forked,
        version: undefined,
      });
      expect((await filesOf(forked)).map(({ data }) => data.path)).toEqual(['file-1']);
    });

    it('takes the workspace as it was at an earlier checkpoint', async () => {
      const sessionId = await converse(house);
      await append(sessionId, eventOf(1));
      const early = await lastSeqOf(sessionId);
      await append(sessionId, eventOf(2));
      await say(house, sessionId, 'hello');
      const turn = await claimOne(house);
      const use = { tool_use_id: 'call_1', name: 'bash', input: {}, evaluated_permission: 'allow' };
      const result = {
        tool_use_id: 'call_1',
        output: '',
        is_error: false,
        duration_ms: 1,
        workspace_version: 7,
      };
      const events = [
        { type: 'agent.tool_use', dataJson: JSON.stringify(use) },
        { type: 'agent.tool_result', dataJson: JSON.stringify(result) },
      ];
      await send(house, reportOn(turn, 1, { events }));
      const late = await lastSeqOf(sessionId);
      await send(house, reportOn(turn, 2, { outcome: COMPLETED }));
      await append(sessionId, eventOf(8));

      await fork(sessionId, early);
      expect(house.asked.forked.at(-1)?.version).toBe(1);
      const forked = await fork(sessionId, late);
      expect(house.asked.forked.at(-1)?.version).toBe(7);
      const again = await fork(forked, (await lastSeqOf(forked)) - 1);
      expect(house.asked.forked.at(-1)).toMatchObject({ fromSessionId: forked, toSessionId: again });
    });

    it('leaves no workspace behind for a fork that was made before', async () => {
      const sessionId = await converse(house);
      const request = { sessionId, afterSeq: 1, idempotencyKey: `fork-${sessionId}` };
      const first = await house.edge.forkSession(request, { caller: OWNER });
      const second = await house.edge.forkSession(request, { caller: OWNER });
      expect(second.session?.sessionId).toBe(first.session?.sessionId);
      expect(house.asked.deleted).toEqual([house.asked.forked.at(-1)?.toSessionId]);
    });
  });

  it('go although one that was deleted before cannot go yet', async () => {
    const [stuck, other] = [await converse(house), await converse(house)];
    house.asked.stuck = stuck;
    for (const sessionId of [stuck, other]) await house.edge.deleteSession({ sessionId }, { caller: OWNER });
    clock.advance(3_601_000);
    const erased = async (sessionId: string) => {
      await passing(
        'the session is erased',
        () => clock.advance(60_000),
        async () => house.asked.deleted.includes(sessionId),
      );
    };
    await erased(other);
    expect(house.asked.deleted).not.toContain(stuck);
    house.asked.stuck = undefined;
    await erased(stuck);
  });

  it('go when their sessions are erased', async () => {
    const sessionId = await converse(house);
    await append(sessionId, eventOf(1));
    await house.edge.deleteSession({ sessionId }, { caller: OWNER });
    clock.advance(3_601_000);
    await passing(
      'the session is erased',
      () => clock.advance(250),
      async () => house.asked.deleted.includes(sessionId),
    );
  });
});
