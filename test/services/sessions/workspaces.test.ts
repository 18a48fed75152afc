import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FileEvent } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { advanceUntil } from '../../support/wait.ts';
import {
  AGENT,
  ASSISTANT,
  COMPLETED,
  claimTurn,
  claimTurns,
  createConversation,
  journalOf,
  OWNER,
  openSystem,
  reportFor,
  STRANGER,
  sendReports,
  sendText,
} from './system.ts';

describe.each(TRANSPORTS)('workspaces of sessions over %s', (transport) => {
  let system: Awaited<ReturnType<typeof openSystem>>;
  const clock = createFakeClock();
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const eventOf = (seq: number, path = `file-${seq}`, userId = ''): FileEvent => ({
    seq,
    type: 'file.created',
    dataJson: JSON.stringify({ path, size: 1, sha256: 'aa', workspace_version: seq }),
    userId,
    createdAt: new Date('2026-11-21T10:00:00.000Z'),
  });

  const append = (sessionId: string, ...events: FileEvent[]) =>
    system.files.appendFileEvents({ sessionId, events });

  async function filesOf(sessionId: string) {
    const events = await journalOf(system, sessionId);
    return events.filter(({ type }) => type.startsWith('file.')).map(({ json }) => JSON.parse(json));
  }

  async function fork(sessionId: string, afterSeq: number): Promise<string> {
    const { session } = await system.edge.forkSession(
      { sessionId, afterSeq, idempotencyKey: '' },
      { caller: OWNER },
    );
    return session?.sessionId ?? '';
  }

  const lastSeqOf = async (sessionId: string) =>
    (await system.edge.getSession({ sessionId }, { caller: OWNER })).session?.lastSeq ?? 0;

  describe('ListReferencedParts', () => {
    it('finds parts in messages, tool results and answers, and no others', async () => {
      const [own, made, unused] = ['a', 'b', 'c'].map((letter) => letter.repeat(64));
      const sessionId = await createConversation(system);
      const image = { type: 'image', media_type: 'image/png', sha256: own, size: 1 };
      await system.edge.sendMessage(
        { sessionId, contentJson: JSON.stringify([image]), busyPolicy: 'enqueue', idempotencyKey: '' },
        { caller: OWNER },
      );
      const turn = await claimTurn(system);
      const data = {
        message_id: 'm',
        content: [{ ...image, sha256: made }],
        model: 'm',
        finish_reason: 'stop',
      };
      const events = [
        {
          type: 'agent.message_delta',
          dataJson: JSON.stringify({ message_id: 'm', index: 0, delta: `"${unused}"` }),
        },
        { type: 'agent.message', dataJson: JSON.stringify(data) },
      ];
      await sendReports(system, reportFor(turn, 1, { events: events.slice(0, 1) }));
      await sendReports(system, reportFor(turn, 2, { events: events.slice(1), outcome: COMPLETED }));
      const find = async (id: string) =>
        (await system.files.listReferencedParts({ sessionId: id, sha256: [own, made, unused] as string[] }))
          .sha256;
      expect(await find(sessionId)).toEqual([own, made]);
      expect(await find(await createConversation(system))).toEqual([]);
      expect(await find('ses_00000000000000000000000000')).toEqual([]);
    });
  });

  describe('LocateWorkspace', () => {
    it('returns the owner to a user who may read the session', async () => {
      const sessionId = await createConversation(system);
      const place = await system.files.locateWorkspace({ sessionId, lease: undefined }, { caller: OWNER });
      expect(place).toEqual({ ownerId: OWNER.userId, assistantId: '', readOnly: false, foreign: false });
      const foreign = system.files.locateWorkspace({ sessionId, lease: undefined }, { caller: STRANGER });
      await expect(foreign).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    });

    it('says that an archived session is read-only and refuses a deleted one', async () => {
      const sessionId = await createConversation(system);
      await system.edge.archiveSession({ sessionId }, { caller: OWNER });
      expect(
        await system.files.locateWorkspace({ sessionId, lease: undefined }, { caller: OWNER }),
      ).toMatchObject({
        readOnly: true,
      });
      await system.edge.deleteSession({ sessionId }, { caller: OWNER });
      const locating = system.files.locateWorkspace({ sessionId, lease: undefined }, { caller: OWNER });
      await expect(locating).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    });

    it('returns the owner to the runner that holds the turn, until the turn ends', async () => {
      await createConversation(system, 'hello');
      const turn = await claimTurn(system);
      const { sessionId, turnId, fence } = turn;
      const locate = (lease = { sessionId, turnId, fence }) =>
        system.files.locateWorkspace({ sessionId, lease });
      expect(await locate()).toMatchObject({ ownerId: OWNER.userId });
      const older = locate({ sessionId, turnId, fence: fence - 1 });
      await expect(older).rejects.toMatchObject({ code: 'LEASE_LOST' });
      await sendReports(system, reportFor(turn, 1, { outcome: COMPLETED }));
      await expect(locate()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    });
  });

  describe('AppendFileEvents', () => {
    it('appends each change once, with the user or agent as the actor', async () => {
      const sessionId = await createConversation(system);
      await append(sessionId, eventOf(1, 'a', OWNER.userId), eventOf(2, 'b'));
      await append(sessionId, eventOf(2, 'b'), eventOf(3, 'c'));
      await append(sessionId, eventOf(1, 'a'));
      const files = await filesOf(sessionId);
      expect(files.map(({ data }) => data.path)).toEqual(['a', 'b', 'c']);
      expect(files.map(({ actor }) => actor.type)).toEqual(['user', 'agent', 'agent']);
      expect(files[0]).toMatchObject({ type: 'file.created', created_at: '2026-11-21T10:00:00.000Z' });
    });

    it('appends each change once for concurrent requests', async () => {
      const sessionId = await createConversation(system);
      const events = [1, 2, 3, 4, 5].map((seq) => eventOf(seq));
      await Promise.all(Array.from({ length: 8 }, () => append(sessionId, ...events)));
      expect((await filesOf(sessionId)).map(({ data }) => data.workspace_version)).toEqual([1, 2, 3, 4, 5]);
    });

    it('says whether the session exists, also without events', async () => {
      const sessionId = await createConversation(system);
      const lastSeq = await lastSeqOf(sessionId);
      expect(await append(sessionId)).toEqual({ gone: false });
      expect(await lastSeqOf(sessionId)).toBe(lastSeq);
      await system.edge.deleteSession({ sessionId }, { caller: OWNER });
      expect(await append(sessionId, eventOf(1))).toEqual({ gone: true });
      expect(await append(`ses_${'0'.repeat(26)}`)).toEqual({ gone: true });
    });
  });

  describe('ForkSession', () => {
    it('forks the current workspace when the session has not moved on', async () => {
      const sessionId = await createConversation(system);
      await append(sessionId, eventOf(1));
      const forked = await fork(sessionId, await lastSeqOf(sessionId));
      expect(system.neighbourCalls.forked.at(-1)).toEqual({
        fromSessionId: sessionId,
        toSessionId: forked,
        version: undefined,
      });
      expect((await filesOf(forked)).map(({ data }) => data.path)).toEqual(['file-1']);
    });

    it('carries only the parts of messages along for a session of an assistant', async () => {
      const sessionId = await createConversation(system, undefined, ASSISTANT);
      const forked = await fork(sessionId, await lastSeqOf(sessionId));
      expect(system.neighbourCalls.forked.at(-1)).toEqual({
        fromSessionId: sessionId,
        toSessionId: forked,
        version: undefined,
        partsOnly: true,
      });
    });

    it('forks the workspace version of an earlier checkpoint', async () => {
      const sessionId = await createConversation(system);
      await append(sessionId, eventOf(1));
      const early = await lastSeqOf(sessionId);
      await append(sessionId, eventOf(2));
      await sendText(system, sessionId, 'hello');
      const turn = await claimTurn(system);
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
      await sendReports(system, reportFor(turn, 1, { events }));
      const late = await lastSeqOf(sessionId);
      await sendReports(system, reportFor(turn, 2, { outcome: COMPLETED }));
      await append(sessionId, eventOf(8));

      await fork(sessionId, early);
      expect(system.neighbourCalls.forked.at(-1)?.version).toBe(1);
      const forked = await fork(sessionId, late);
      expect(system.neighbourCalls.forked.at(-1)?.version).toBe(7);
      const again = await fork(forked, (await lastSeqOf(forked)) - 1);
      expect(system.neighbourCalls.forked.at(-1)).toMatchObject({
        fromSessionId: forked,
        toSessionId: again,
      });
    });

    it('forks the workspace of the checkpoint when the session moves on during the fork', async () => {
      const sessionId = await createConversation(system);
      await append(sessionId, eventOf(1));
      const lastSeq = await lastSeqOf(sessionId);
      let moved = false;
      system.neighbourCalls.beforeFork = async () => {
        if (moved) return;
        moved = true;
        await append(sessionId, eventOf(2));
      };
      try {
        const before = system.neighbourCalls.forked.length;
        const forked = await fork(sessionId, lastSeq);
        const requests = system.neighbourCalls.forked.slice(before);
        expect(requests.map(({ version }) => version)).toEqual([undefined, 1]);
        expect(requests.at(-1)?.toSessionId).toBe(forked);
        expect(system.neighbourCalls.deleted).toContain(requests[0]?.toSessionId);
        expect((await filesOf(forked)).map(({ data }) => data.path)).toEqual(['file-1']);
      } finally {
        system.neighbourCalls.beforeFork = undefined;
        system.neighbourCalls.deleted.length = 0;
      }
    });

    it('deletes the forked workspace when the idempotency key was used before', async () => {
      const sessionId = await createConversation(system);
      const request = { sessionId, afterSeq: 1, idempotencyKey: `fork-${sessionId}` };
      const first = await system.edge.forkSession(request, { caller: OWNER });
      const second = await system.edge.forkSession(request, { caller: OWNER });
      expect(second.session?.sessionId).toBe(first.session?.sessionId);
      expect(system.neighbourCalls.deleted).toEqual([system.neighbourCalls.forked.at(-1)?.toSessionId]);
    });
  });

  it('are erased although an earlier one cannot be deleted', async () => {
    const [stuck, other] = [await createConversation(system), await createConversation(system)];
    system.neighbourCalls.undeletableWorkspace = stuck;
    for (const sessionId of [stuck, other]) await system.edge.deleteSession({ sessionId }, { caller: OWNER });
    clock.advance(3_601_000);
    const erased = async (sessionId: string) => {
      await advanceUntil(
        'the session is erased',
        () => clock.advance(60_000),
        async () => system.neighbourCalls.deleted.includes(sessionId),
      );
    };
    await erased(other);
    expect(system.neighbourCalls.deleted).not.toContain(stuck);
    system.neighbourCalls.undeletableWorkspace = undefined;
    await erased(stuck);
  });

  it('delay no turn while the service files does not answer their deletion', async () => {
    const SESSIONS = 20;
    for (let n = 0; n < SESSIONS; n++) {
      const sessionId = await createConversation(system);
      await system.edge.deleteSession({ sessionId }, { caller: OWNER });
    }
    const answer = Promise.withResolvers<void>();
    let deletions = 0;
    system.neighbourCalls.beforeDelete = () => {
      deletions++;
      return answer.promise;
    };
    clock.advance(3_601_000);
    await advanceUntil(
      'a workspace is to be deleted',
      () => clock.advance(60_000),
      async () => deletions > 0,
    );
    await createConversation(system, 'work');
    const { turnId } = await claimTurn(system);
    const again = await advanceUntil(
      'the turn of a lost runner is queued again',
      () => clock.advance(1_000),
      async () => (await claimTurns(system)).at(0),
    );
    expect(again).toMatchObject({ turnId, attempt: 2 });
    // Each deletion waits for its deadline.
    expect(deletions).toBeLessThan(SESSIONS);
    system.neighbourCalls.beforeDelete = undefined;
    answer.resolve();
    await sendReports(system, reportFor(again, 1, { outcome: COMPLETED }));
  });

  it.each([AGENT, ASSISTANT])('are deleted when their sessions with %s are erased', async (agentId) => {
    const sessionId = await createConversation(system, undefined, agentId);
    await append(sessionId, eventOf(1));
    await system.edge.deleteSession({ sessionId }, { caller: OWNER });
    clock.advance(3_601_000);
    await advanceUntil(
      'the session is erased',
      () => clock.advance(250),
      async () => system.neighbourCalls.deleted.includes(sessionId),
    );
  });
});
