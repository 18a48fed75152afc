import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refusal } from '../../../lib/errors.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { trackSessions } from './created-sessions.ts';
import {
  COMPLETED,
  claimTurn,
  claimTurns,
  createConversation,
  journalOf,
  OWNER,
  openReplica,
  openSystem,
  STRANGER,
  sendText,
  typesOf,
} from './system.ts';
import { blockedOn, createReporter, toolCallStep } from './turn-events.ts';

const caller = OWNER;
const OVERLOADED = {
  kind: {
    $case: 'retry' as const,
    value: { error: { code: 'MODEL_OVERLOADED', message: 'busy' }, delayMs: 60_000 },
  },
};

describe.each(TRANSPORTS)('the queue of a session over %s', (transport) => {
  const clock = createFakeClock();
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { begin, track } = trackSessions(() => system);
  const sessionOf = async (sessionId: string) =>
    (await system.edge.getSession({ sessionId }, { caller })).session;
  const hold = (sessionId: string) =>
    system.edge.interruptSession({ sessionId, holdQueue: true }, { caller });
  const release = async (sessionId: string) =>
    (await system.edge.releaseQueue({ sessionId }, { caller })).session;
  const cancel = (sessionId: string, turnId: string) =>
    system.edge.cancelTurn({ sessionId, turnId }, { caller });

  describe('InterruptSession with hold_queue', () => {
    it('ends the turn and keeps the turns behind it waiting', async () => {
      const sessionId = await begin('one');
      await claimTurn(system);
      await sendText(system, sessionId, 'two');
      await sendText(system, sessionId, 'three');
      const { session } = await hold(sessionId);
      expect(session).toMatchObject({ status: 'idle', state: 'stopped', queueHeld: true, queuedTurns: 2 });
      clock.advance(60_000);
      expect(await claimTurns(system)).toEqual([]);
    });

    it('keeps the queue held in a new process of the service', async () => {
      const sessionId = await begin('one');
      await sendText(system, sessionId, 'two');
      await hold(sessionId);
      await using replica = await openReplica(transport, system.context);
      clock.advance(60_000);
      expect(await claimTurns(replica)).toEqual([]);
      expect(await release(sessionId)).toMatchObject({ status: 'pending', queueHeld: false });
    });

    it('lets later messages wait behind the held ones', async () => {
      const sessionId = await begin('one');
      const { turnId: second } = await sendText(system, sessionId, 'two');
      await hold(sessionId);
      await sendText(system, sessionId, 'three');
      await sendText(system, sessionId, 'four', 'interrupt');
      await expect(sendText(system, sessionId, 'five', 'reject')).rejects.toMatchObject({
        code: 'SESSION_BUSY',
        message: expect.stringContaining('queue of the session is held'),
      });
      expect(await sessionOf(sessionId)).toMatchObject({ status: 'idle', queueHeld: true, queuedTurns: 3 });
      expect(await claimTurns(system)).toEqual([]);
      await release(sessionId);
      expect((await claimTurn(system)).turnId).toBe(second);
    });

    it('does not change a queue that is held already', async () => {
      const sessionId = await begin('one');
      await sendText(system, sessionId, 'two');
      await hold(sessionId);
      const before = await sessionOf(sessionId);
      await hold(sessionId);
      await system.edge.interruptSession({ sessionId }, { caller });
      expect(await sessionOf(sessionId)).toEqual(before);
    });

    it('holds the turns behind one that waits for an approval', async () => {
      const sessionId = await begin('one');
      const turn = await claimTurn(system);
      const report = createReporter(system, turn);
      await report({ events: toolCallStep('msg_1', { id: 'call_1' }) });
      await report({ outcome: blockedOn({ id: 'call_1', kind: 'tool' }) });
      await sendText(system, sessionId, 'two');
      expect((await hold(sessionId)).session).toMatchObject({
        status: 'idle',
        queueHeld: true,
        needsAction: false,
      });
    });
  });

  describe('ReleaseQueue', () => {
    it('starts the next turn and appends the events of both changes', async () => {
      const sessionId = await begin('one');
      await sendText(system, sessionId, 'two');
      await hold(sessionId);
      expect(await release(sessionId)).toMatchObject({
        status: 'pending',
        state: 'queued',
        queueHeld: false,
      });
      expect(typesOf(await journalOf(system, sessionId)).slice(-2)).toEqual([
        'session.updated',
        'session.status_pending',
      ]);
    });

    it('changes nothing when the queue is not held', async () => {
      const sessionId = await begin('one');
      const before = await sessionOf(sessionId);
      expect(await release(sessionId)).toEqual(before);
    });
  });

  describe('CancelTurn', () => {
    it('removes a queued turn, and the others keep their order', async () => {
      const sessionId = await begin('one');
      const { turnId: second } = await sendText(system, sessionId, 'two');
      const { turnId: third } = await sendText(system, sessionId, 'three');
      await cancel(sessionId, second);
      expect((await system.edge.getTurn({ sessionId, turnId: second }, { caller })).turn?.status).toBe(
        'cancelled',
      );
      const first = await claimTurn(system);
      await createReporter(system, first)({ outcome: COMPLETED });
      expect((await claimTurn(system)).turnId).toBe(third);
    });

    it('makes the next turn ready when it removes the first one', async () => {
      const sessionId = await begin();
      const { turnId: first } = await sendText(system, sessionId, 'one');
      const { turnId: second } = await sendText(system, sessionId, 'two');
      await cancel(sessionId, first);
      expect(await sessionOf(sessionId)).toMatchObject({ status: 'pending', queuedTurns: 1 });
      expect((await claimTurn(system)).turnId).toBe(second);
    });

    it.each(['held', 'behind a running turn'])(
      'keeps the next turn waiting when it removes the first one of a queue that is %s',
      async (queue) => {
        const sessionId = await begin('one');
        const first = await claimTurn(system);
        const { turnId: second } = await sendText(system, sessionId, 'two');
        const { turnId: third } = await sendText(system, sessionId, 'three');
        if (queue === 'held') await hold(sessionId);
        await cancel(sessionId, second);
        expect(await claimTurns(system)).toEqual([]);
        expect(await sessionOf(sessionId)).toMatchObject({ queueHeld: queue === 'held', queuedTurns: 1 });
        if (queue === 'held') await release(sessionId);
        else await createReporter(system, first)({ outcome: COMPLETED });
        expect((await claimTurn(system)).turnId).toBe(third);
      },
    );

    it('keeps a turn from starting that it removed from behind the current one', async () => {
      const sessionId = await begin('one');
      const report = createReporter(system, await claimTurn(system));
      const { turnId } = await sendText(system, sessionId, 'two');
      await cancel(sessionId, turnId);
      await report({ outcome: COMPLETED });
      expect(await claimTurns(system)).toEqual([]);
      expect(await sessionOf(sessionId)).toMatchObject({ status: 'idle', queuedTurns: 0 });
    });

    it('makes the session idle when it removes the only turn', async () => {
      const sessionId = await begin();
      const { turnId } = await sendText(system, sessionId, 'one');
      await cancel(sessionId, turnId);
      expect(await sessionOf(sessionId)).toMatchObject({ status: 'idle', state: 'stopped', queuedTurns: 0 });
    });

    it('ends the hold with the last held turn, so that the next message starts', async () => {
      const sessionId = await begin('one');
      const { turnId } = await sendText(system, sessionId, 'two');
      await hold(sessionId);
      await cancel(sessionId, turnId);
      expect(await sessionOf(sessionId)).toMatchObject({ status: 'idle', queueHeld: false, queuedTurns: 0 });
      const next = await sendText(system, sessionId, 'three');
      expect((await claimTurn(system)).turnId).toBe(next.turnId);
    });

    it('leaves a session that waits for an approval waiting when it removes the turn behind', async () => {
      const sessionId = await begin('one');
      const report = createReporter(system, await claimTurn(system));
      await report({ events: toolCallStep('msg_1', { id: 'call_1' }) });
      await report({ outcome: blockedOn({ id: 'call_1', kind: 'tool' }) });
      const { turnId } = await sendText(system, sessionId, 'two');
      expect(await sessionOf(sessionId)).toMatchObject({ status: 'pending', state: 'needs_approval' });
      await cancel(sessionId, turnId);
      expect(await sessionOf(sessionId)).toMatchObject({
        status: 'idle',
        state: 'needs_approval',
        needsAction: true,
      });
    });

    it('refuses a turn that has started or ended, an unknown turn and other users', async () => {
      const sessionId = await begin('one');
      const { turnId } = await claimTurn(system);
      await expect(cancel(sessionId, turnId)).rejects.toMatchObject({ code: 'TURN_NOT_QUEUED' });
      await system.edge.interruptSession({ sessionId }, { caller });
      await expect(cancel(sessionId, turnId)).rejects.toMatchObject({ code: 'TURN_NOT_QUEUED' });
      const unknown = `trn_${'0'.repeat(26)}`;
      await expect(cancel(sessionId, unknown)).rejects.toMatchObject({ code: 'TURN_NOT_FOUND' });
      const request = { sessionId, turnId };
      await expect(system.edge.cancelTurn(request, { caller: STRANGER })).rejects.toMatchObject({
        code: 'SESSION_NOT_FOUND',
      });
    });

    it('keeps the message of a removed turn in the list of messages, but from later turns and forks', async () => {
      const sessionId = await begin('one');
      await claimTurn(system);
      const { turnId } = await sendText(system, sessionId, 'two');
      await hold(sessionId);
      await cancel(sessionId, turnId);
      await sendText(system, sessionId, 'three');
      const turn = await claimTurn(system);
      await createReporter(system, turn)({ outcome: COMPLETED });
      const request = { sessionId, page: { limit: 50, cursor: '' } };
      const texts = (events: { json: string }[]) =>
        events
          .map(({ json }) => JSON.parse(json))
          .filter(({ type }) => type === 'user.message')
          .map(({ data }) => data.content[0].text);
      expect(texts((await system.edge.listMessages(request, { caller })).events)).toEqual([
        'one',
        'two',
        'three',
      ]);
      expect(texts(turn.messages)).toEqual(['one', 'three']);
      expect(texts((await system.runner.listMessages(request)).events)).toEqual(['one', 'three']);
      const afterSeq = (await journalOf(system, sessionId)).length;
      const { session: fork } = await system.edge.forkSession(
        { sessionId, afterSeq, idempotencyKey: '' },
        { caller },
      );
      track(fork?.sessionId ?? '');
      expect(texts(await journalOf(system, fork?.sessionId ?? ''))).toEqual(['one', 'three']);
    });

    it('refuses more removals of an ended turn at once than the service has connections', async () => {
      const sessionId = await begin('one');
      const { turnId } = await claimTurn(system);
      await system.edge.interruptSession({ sessionId }, { caller });
      const removals = Array.from({ length: 50 }, () => cancel(sessionId, turnId));
      const codes = (await Promise.allSettled(removals)).map((removal) =>
        removal.status === 'rejected' && removal.reason instanceof Refusal ? removal.reason.code : removal,
      );
      expect(new Set(codes)).toEqual(new Set(['TURN_NOT_QUEUED']));
    });

    it('refuses a turn that has started and waits for its next attempt', async () => {
      const sessionId = await begin('one');
      const turn = await claimTurn(system);
      await createReporter(system, turn)({ outcome: OVERLOADED });
      expect(await sessionOf(sessionId)).toMatchObject({ status: 'rescheduling', queuedTurns: 1 });
      await expect(cancel(sessionId, turn.turnId)).rejects.toMatchObject({ code: 'TURN_NOT_QUEUED' });
    });

    it('succeeds for exactly one of a removal and a claim at the same time', async () => {
      for (let round = 0; round < 20; round++) {
        const sessionId = await createConversation(system);
        const { turnId } = await sendText(system, sessionId, 'one');
        const remove = () =>
          cancel(sessionId, turnId).then(
            () => true,
            (error: unknown) => {
              if (error instanceof Refusal && error.code === 'TURN_NOT_QUEUED') return false;
              throw error;
            },
          );
        const claim = async () => (await claimTurns(system)).some((turn) => turn.turnId === turnId);
        // Each of them begins first in half of the rounds.
        const [removing, claiming] = round % 2 ? [remove(), claim()] : [claim(), remove()].reverse();
        const [isRemoved, isClaimed] = await Promise.all([removing, claiming]);
        expect(isRemoved && isClaimed, 'both succeed').toBe(false);
        // A claim skips a session that is locked by a removal, and the removal may then be refused.
        const isClaimedLater = !isRemoved && !isClaimed && (await claim());
        expect(isRemoved || isClaimed || isClaimedLater, 'one succeeds').toBe(true);
        const { turn } = await system.edge.getTurn({ sessionId, turnId }, { caller });
        expect(turn?.status).toBe(isRemoved ? 'cancelled' : 'in_progress');
        await system.edge.deleteSession({ sessionId }, { caller });
      }
    });
  });
});
