import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildHistory } from '../../../services/runner/loop/history.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { trackSessions } from './created-sessions.ts';
import {
  COMPLETED,
  claimTurn,
  claimTurns,
  content,
  journalOf,
  OWNER,
  openSystem,
  STRANGER,
  sendText,
} from './system.ts';
import {
  agentMessage,
  blockedOn,
  createReporter,
  toolCallStep,
  toolDispatched,
  toolResult,
} from './turn-events.ts';

const caller = OWNER;
const UNKNOWN_TURN = `trn_${'0'.repeat(26)}`;

describe.each(TRANSPORTS)('RegenerateAnswer over %s', (transport) => {
  const clock = createFakeClock();
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { begin, track } = trackSessions(() => system);
  const regenerate = (sessionId: string, turnId = '', idempotencyKey = '') =>
    system.edge.regenerateAnswer({ sessionId, turnId, idempotencyKey }, { caller });
  const turnsOf = async (sessionId: string) => {
    const page = { limit: 100, cursor: '' };
    return (await system.edge.listTurns({ sessionId, page, unfinished: false }, { caller })).turns;
  };

  /** Claims the next turn and completes it with a message. Returns the turn. */
  async function answer(text: string) {
    const turn = await claimTurn(system);
    await createReporter(
      system,
      turn,
    )({
      events: agentMessage(`msg_${text}`, text),
      outcome: COMPLETED,
    });
    return turn;
  }
  /** The texts that the model gets for a claimed turn. */
  const textsFor = ({ messages, turnId }: Awaited<ReturnType<typeof claimTurn>>) =>
    buildHistory(messages, turnId).messages.map(({ content }) => content);
  /** The texts that a runner reads when the claim does not have them all. */
  async function historyOf(sessionId: string) {
    const { events } = await system.runner.listMessages({ sessionId, page: { limit: 100, cursor: '' } });
    return events.map(({ json }) => JSON.parse(json).data.content[0].text);
  }

  async function sessionWithAnswer() {
    const sessionId = await begin('one');
    const { turnId } = await answer('first');
    return { sessionId, turnId };
  }

  it('queues a turn that names the replaced one and has its message but not its answer', async () => {
    const sessionId = await begin('one');
    const turn = await claimTurn(system);
    const report = createReporter(system, turn);
    await report({ events: toolCallStep('msg_1', { id: 'call_1' }) });
    await report({ events: [toolDispatched('call_1', 1, turn.fence)] });
    await report({ events: [toolResult('call_1')] });
    await report({ events: agentMessage('msg_2', 'first'), outcome: COMPLETED });
    const { turnId, seq, replayed } = await regenerate(sessionId, turn.turnId);
    expect(replayed).toBe(false);
    const journal = await journalOf(system, sessionId);
    const queued = JSON.parse(journal[seq - 1]?.json ?? '');
    expect(queued).toMatchObject({
      type: 'turn.queued',
      turn_id: turnId,
      actor: { type: 'user', id: OWNER.userId },
      data: { turn_id: turnId, replaces_turn_id: turn.turnId },
    });
    expect(journal.at(-1)?.type).toBe('session.status_pending');
    const [old, fresh] = await turnsOf(sessionId);
    expect(old).toMatchObject({ turnId: turn.turnId, status: 'completed', replacesTurnId: undefined });
    expect(fresh).toMatchObject({ turnId, status: 'queued', position: seq, replacesTurnId: turn.turnId });
    const claimed = await claimTurn(system);
    expect(claimed.turnId).toBe(turnId);
    expect(textsFor(claimed)).toEqual(['one']);
    expect(await historyOf(sessionId)).toEqual(['one']);
  });

  it('leaves a pinned message pinned, which still counts', async () => {
    const sessionId = await begin();
    const message = { sessionId, busyPolicy: 'enqueue', idempotencyKey: '', pinned: true };
    const pin = (text: string) =>
      system.edge.sendMessage({ ...message, contentJson: content(text) }, { caller });
    await pin('a'.repeat(16 * 1024));
    await answer('first');
    await regenerate(sessionId);
    const claimed = await claimTurn(system);
    expect(claimed.messages.map(({ json }) => JSON.parse(json).data.pinned)).toEqual([true]);
    await expect(pin('b')).rejects.toMatchObject({ code: 'PINNED_LIMIT_EXCEEDED' });
    await createReporter(system, claimed)({ outcome: COMPLETED });
  });

  it('shows later turns the new answer, in the place of the old one, and keeps both in the journal', async () => {
    const { sessionId } = await sessionWithAnswer();
    const { turnId } = await regenerate(sessionId);
    await sendText(system, sessionId, 'two');
    const claimed = await claimTurn(system);
    expect(claimed.turnId).toBe(turnId);
    expect(textsFor(claimed)).toEqual(['one']);
    await createReporter(system, claimed)({ events: agentMessage('msg_n', 'second'), outcome: COMPLETED });
    expect(textsFor(await answer('third'))).toEqual(['one', 'second', 'two']);
    expect(await historyOf(sessionId)).toEqual(['one', 'two', 'second', 'third']);
    const page = { limit: 100, cursor: '' };
    const { events } = await system.edge.listMessages({ sessionId, page }, { caller });
    expect(events).toHaveLength(5);
  });

  it('replaces an answer again and again', async () => {
    const { sessionId, turnId: first } = await sessionWithAnswer();
    const { turnId: second } = await regenerate(sessionId, first);
    await answer('second');
    await regenerate(sessionId, second);
    await answer('third');
    expect(await historyOf(sessionId)).toEqual(['one', 'third']);
    await expect(regenerate(sessionId, second)).rejects.toMatchObject({ code: 'TURN_NOT_LAST' });
  });

  it('replaces a failed and an interrupted turn', async () => {
    const sessionId = await begin('one');
    const turn = await claimTurn(system);
    const failed = {
      kind: { $case: 'failed' as const, value: { error: { code: 'model_error', message: 'No.' } } },
    };
    await createReporter(system, turn)({ events: [], outcome: failed });
    const { turnId: second } = await regenerate(sessionId, turn.turnId);
    await system.edge.interruptSession({ sessionId, holdQueue: false }, { caller });
    await regenerate(sessionId, second);
    expect(textsFor(await answer('third'))).toEqual(['one']);
  });

  it('refuses an earlier turn with TURN_NOT_LAST and recommends a fork', async () => {
    const { sessionId, turnId } = await sessionWithAnswer();
    await sendText(system, sessionId, 'two');
    await answer('second');
    const before = await journalOf(system, sessionId);
    await expect(regenerate(sessionId, turnId)).rejects.toMatchObject({
      code: 'TURN_NOT_LAST',
      message: expect.stringContaining(`POST /sessions/${sessionId}/fork`),
    });
    expect(await journalOf(system, sessionId)).toEqual(before);
  });

  it('refuses unknown turns, sessions without an answer and sessions of other users', async () => {
    const { sessionId, turnId } = await sessionWithAnswer();
    await expect(regenerate(sessionId, UNKNOWN_TURN)).rejects.toMatchObject({ code: 'TURN_NOT_FOUND' });
    await expect(regenerate(await begin())).rejects.toMatchObject({ code: 'TURN_NOT_FOUND' });
    const request = { sessionId, turnId, idempotencyKey: '' };
    await expect(system.edge.regenerateAnswer(request, { caller: STRANGER })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  });

  it('refuses a session with a queued, running or blocked turn with SESSION_BUSY', async () => {
    const sessionId = await begin('one');
    const busy = { code: 'SESSION_BUSY' };
    await expect(regenerate(sessionId)).rejects.toMatchObject(busy);
    const turn = await claimTurn(system);
    await expect(regenerate(sessionId, turn.turnId)).rejects.toMatchObject(busy);
    const report = createReporter(system, turn);
    await report({ events: toolCallStep('msg_1', { id: 'call_1' }), outcome: blockedOn({ id: 'call_1' }) });
    await expect(regenerate(sessionId, turn.turnId)).rejects.toMatchObject(busy);
  });

  it('refuses archived sessions', async () => {
    const { sessionId } = await sessionWithAnswer();
    await system.edge.archiveSession({ sessionId }, { caller });
    await expect(regenerate(sessionId)).rejects.toMatchObject({ code: 'SESSION_ARCHIVED' });
  });

  it('queues one turn for repeated requests with the same key, and one for simultaneous ones', async () => {
    const { sessionId, turnId } = await sessionWithAnswer();
    const first = await regenerate(sessionId, turnId, 'key-1');
    expect(await regenerate(sessionId, turnId, 'key-1')).toEqual({ ...first, replayed: true });
    await answer('second');
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => regenerate(sessionId)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await claimTurns(system)).toHaveLength(1);
  });

  it('brings the old answer back when the turn is removed from the queue', async () => {
    const { sessionId, turnId: first } = await sessionWithAnswer();
    const { turnId } = await regenerate(sessionId);
    await system.edge.cancelTurn({ sessionId, turnId }, { caller });
    expect(await historyOf(sessionId)).toEqual(['one', 'first']);
    await regenerate(sessionId, first);
  });

  describe('and ForkSession', () => {
    const fork = async (sessionId: string, afterSeq: number) =>
      track(
        (await system.edge.forkSession({ sessionId, afterSeq, idempotencyKey: '' }, { caller })).session
          ?.sessionId ?? '',
      );

    it('copies the answers of the session as it was at the seq', async () => {
      const { sessionId } = await sessionWithAnswer();
      const before = (await journalOf(system, sessionId)).length;
      await regenerate(sessionId);
      await answer('second');
      const after = (await journalOf(system, sessionId)).length;
      expect(await historyOf(await fork(sessionId, after))).toEqual(['one', 'second']);
      expect(await historyOf(await fork(sessionId, before))).toEqual(['one', 'first']);
    });

    it('lets the last answer of a fork be replaced, which the first session does not see', async () => {
      const { sessionId, turnId } = await sessionWithAnswer();
      const forkId = await fork(sessionId, (await journalOf(system, sessionId)).length);
      await regenerate(forkId, turnId);
      expect(textsFor(await answer('second'))).toEqual(['one']);
      expect(await historyOf(forkId)).toEqual(['one', 'second']);
      expect(await historyOf(sessionId)).toEqual(['one', 'first']);
    });
  });
});
