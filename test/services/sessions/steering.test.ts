import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClaimedTurn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { buildHistory } from '../../../services/runner/loop/history.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import { newDeliveryId, sendForDelivery } from './channel-deliveries.ts';
import { trackSessions } from './created-sessions.ts';
import {
  COMPLETED,
  claimTurn,
  claimTurns,
  content,
  journalOf,
  OWNER,
  openSystem,
  reportFor,
  sendReports,
  sendText,
  typesOf,
} from './system.ts';
import {
  agentMessage,
  blockedOn,
  createReporter,
  newEvent,
  toolCallStep,
  toolDispatched,
  toolResult,
} from './turn-events.ts';

const caller = OWNER;

describe.each(TRANSPORTS)('steering a running turn over %s', (transport) => {
  const clock = createFakeClock();
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { begin, track } = trackSessions(() => system);
  const steer = (sessionId: string, text: string) => sendText(system, sessionId, text, 'steer');
  const leaseOf = ({ sessionId, turnId, fence }: ClaimedTurn) => ({ sessionId, turnId, fence });
  const deliver = (turn: ClaimedTurn, step = 2, afterSeq = 0) =>
    system.runner.deliverMessages({ lease: leaseOf(turn), step, afterSeq });
  const textOf = ({ json }: { json: string }) => JSON.parse(json).data.content[0].text;
  const turnOf = async (sessionId: string, turnId: string, waitMs?: number) =>
    system.edge.getTurn({ sessionId, turnId, waitMs }, { caller });
  const sessionOf = async (sessionId: string) =>
    (await system.edge.getSession({ sessionId }, { caller })).session;
  /** Claims the turn that a retry has made ready. */
  async function claimRetry(): Promise<ClaimedTurn> {
    let turn: ClaimedTurn | undefined;
    await until('the turn is ready again', async () => {
      clock.advance(1_000);
      [turn] = await claimTurns(system, 1);
      return turn !== undefined;
    });
    if (!turn) throw new Error('no turn is ready');
    return turn;
  }
  /** The messages that the model gets for a claimed turn. */
  const promptOf = ({ messages, turnId }: Pick<ClaimedTurn, 'messages' | 'turnId'>) =>
    buildHistory(messages, turnId).messages;
  const rolesOf = (turn: ClaimedTurn) => promptOf(turn).map(({ role }) => role);
  /** The whole history of a session as a runner reads it, in pages. */
  async function historyOf(sessionId: string, limit = 100) {
    const events = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = await system.runner.listMessages({ sessionId, page: { limit, cursor } });
      events.push(...page.events);
      cursor = page.page?.nextCursor || undefined;
    }
    return events;
  }

  /** A turn whose first step has called a tool that has ended. */
  async function turnAfterTool(text = 'one') {
    const sessionId = await begin(text);
    const turn = await claimTurn(system);
    const report = createReporter(system, turn);
    await report({ events: toolCallStep('msg_1', { id: 'call_1' }) });
    await report({ events: [toolDispatched('call_1', 1, turn.fence)] });
    return { sessionId, turn, report };
  }

  it('delivers the messages in their order into the turn, and completes their own turns', async () => {
    const { sessionId, turn, report } = await turnAfterTool();
    const first = await steer(sessionId, 'two');
    const second = await steer(sessionId, 'three');
    await report({ events: [toolResult('call_1')] });
    const { messages, hasMore } = await deliver(turn);
    expect(messages.map(textOf)).toEqual(['two', 'three']);
    expect(hasMore).toBe(false);
    const journal = await journalOf(system, sessionId);
    expect(typesOf(journal).slice(-4)).toEqual([
      'user.message_delivered',
      'turn.completed',
      'user.message_delivered',
      'turn.completed',
    ]);
    const [delivered, ended] = journal.slice(-4).map(({ json }) => JSON.parse(json));
    expect(delivered).toMatchObject({
      turn_id: turn.turnId,
      data: { message_seq: first.seq, turn_id: turn.turnId, step: 2 },
    });
    expect(ended).toMatchObject({
      turn_id: first.turnId,
      data: { turn_id: first.turnId, attempt: 0, delivered_to_turn_id: turn.turnId },
    });
    expect((await turnOf(sessionId, second.turnId)).turn).toMatchObject({
      status: 'completed',
      attempt: 0,
      deliveredToTurnId: turn.turnId,
      startedAt: undefined,
      finishedAt: clock.now(),
    });
    expect(await sessionOf(sessionId)).toMatchObject({ status: 'running', queuedTurns: 0 });
    await report({ events: agentMessage('msg_2', 'done'), outcome: COMPLETED });
    expect(await sessionOf(sessionId)).toMatchObject({ status: 'idle', state: 'completed' });
  });

  it('tells the runner with the claim, the answers to reports and the renewals', async () => {
    const sessionId = await begin('one');
    const early = await steer(sessionId, 'two');
    const turn = await claimTurn(system);
    expect(turn.steered).toBe(true);
    await deliver(turn, 1);
    const quiet = await sendReports(system, reportFor(turn, 1, { events: agentMessage('msg_1', 'x') }));
    expect(quiet).toEqual([expect.objectContaining({ errorCode: '', steered: false })]);
    const leases = [leaseOf(turn)];
    const renewed = await system.runner.renewLeases({ runnerId: 'rnr_1', leases });
    expect(renewed.steeredTurnIds).toEqual([]);
    const late = await steer(sessionId, 'three');
    expect((await system.runner.renewLeases({ runnerId: 'rnr_1', leases })).steeredTurnIds).toEqual([
      turn.turnId,
    ]);
    const loud = await sendReports(system, reportFor(turn, 2, { events: agentMessage('msg_2', 'y') }));
    expect(loud).toEqual([expect.objectContaining({ errorCode: '', steered: true })]);
    expect((await turnOf(sessionId, early.turnId)).turn?.status).toBe('completed');
    expect((await turnOf(sessionId, late.turnId)).turn?.status).toBe('queued');
    await sendReports(system, reportFor(turn, 3, { outcome: COMPLETED }));
    const next = await claimTurn(system);
    expect(next).toMatchObject({ turnId: late.turnId, steered: false });
    await createReporter(system, next)({ outcome: COMPLETED });
  });

  it('returns messages again whose response was lost, without a second delivery', async () => {
    const { sessionId, turn, report } = await turnAfterTool();
    await steer(sessionId, 'two');
    const [lost] = (await deliver(turn)).messages;
    await steer(sessionId, 'three');
    const { messages } = await deliver(turn);
    expect(messages.map(textOf)).toEqual(['two', 'three']);
    expect(messages[0]).toEqual(lost);
    expect((await deliver(turn, 2, messages[1]?.seq)).messages).toEqual([]);
    const types = typesOf(await journalOf(system, sessionId));
    expect(types.filter((type) => type === 'user.message_delivered')).toHaveLength(2);
    await report({ events: [toolResult('call_1')], outcome: COMPLETED });
  });

  it('refuses a runner that has lost the turn, and keeps the message for the next holder', async () => {
    const { sessionId, turn } = await turnAfterTool();
    const { turnId } = await steer(sessionId, 'two');
    await expect(
      system.runner.deliverMessages({
        lease: { ...leaseOf(turn), fence: turn.fence - 1 },
        step: 2,
        afterSeq: 0,
      }),
    ).rejects.toMatchObject({ code: 'LEASE_LOST' });
    clock.advance(15_001);
    await expect(deliver(turn)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect((await turnOf(sessionId, turnId)).turn?.status).toBe('queued');
    const again = await claimRetry();
    expect(again).toMatchObject({ turnId: turn.turnId, attempt: 2, steered: true });
    expect((await deliver(again)).messages.map(textOf)).toEqual(['two']);
    await createReporter(system, again)({ outcome: COMPLETED });
  });

  it.each([1, 2, 100])(
    'gives later attempts, turns and forks the message at its place, read in pages of %i',
    async (limit) => {
      const { sessionId, turn, report } = await turnAfterTool();
      const { seq } = await steer(sessionId, 'two');
      await report({ events: [toolResult('call_1')] });
      const { messages } = await deliver(turn);
      await report({ events: toolCallStep('msg_2', { id: 'call_2' }) });
      await report({
        outcome: { kind: { $case: 'retry', value: { error: { code: 'x', message: 'x' }, delayMs: 1 } } },
      });
      const again = await claimRetry();
      expect(rolesOf(again)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant']);
      const history = await historyOf(sessionId, limit);
      expect(history).toEqual(again.messages);
      expect(history[3]).toEqual(messages[0]);
      expect(history.map(({ seq: at }) => at)).toEqual(
        history.map(({ seq: at }) => at).toSorted((a, b) => a - b),
      );
      const prompt = promptOf(again);
      const reportAgain = createReporter(system, again);
      await reportAgain({ events: [toolResult('call_2')] });
      await reportAgain({ events: agentMessage('msg_3', 'done'), outcome: COMPLETED });

      const listed = await system.edge.listMessages(
        { sessionId, page: { limit: 100, cursor: '' } },
        { caller },
      );
      expect(listed.events.find(({ seq: at }) => at === seq)?.json).toContain('"two"');
      const { turnId: last } = await sendText(system, sessionId, 'next');
      const next = await claimTurn(system);
      expect(next.turnId).toBe(last);
      expect(promptOf(next).slice(0, 5)).toEqual(prompt);
      await createReporter(system, next)({ outcome: COMPLETED });

      const afterSeq = (await sessionOf(sessionId))?.lastSeq ?? 0;
      const { session: fork } = await system.edge.forkSession(
        { sessionId, afterSeq, idempotencyKey: '' },
        { caller },
      );
      const forkId = track(fork?.sessionId ?? '');
      await sendText(system, forkId, 'forked');
      const forked = await claimTurn(system);
      expect(promptOf(forked).slice(0, 5)).toEqual(prompt);
      await createReporter(system, forked)({ outcome: COMPLETED });
    },
  );

  it.each([
    ['before its delivery', true],
    ['after its delivery', false],
  ])('keeps the message once in a history that was compacted %s', async (_, isBefore) => {
    const { sessionId, turn, report } = await turnAfterTool();
    const { seq } = await steer(sessionId, 'two');
    await report({ events: [toolResult('call_1')] });
    const compact = (toSeq = 0, ...kept: number[]) => {
      const data = { from_seq: 1, to_seq: toSeq, strategy: 'summarize', summary: 'It began.', kept };
      const events = [newEvent('agent.context_compacted', { ...data, tokens_before: 10, tokens_after: 5 })];
      return report({ events });
    };
    const last = (await sessionOf(sessionId))?.lastSeq;
    if (isBefore) await compact(last, turn.messages[0]?.seq ?? 0, seq);
    const [message] = (await deliver(turn)).messages;
    if (!isBefore) await compact(message?.seq, message?.seq ?? 0);
    await report({ events: agentMessage('msg_2', 'done'), outcome: COMPLETED });
    for (const limit of [1, 100]) {
      const history = await historyOf(sessionId, limit);
      expect(history.filter(({ json }) => json.includes('"two"'))).toEqual([message]);
      expect(textOf(history.at(-1) ?? { json: '' })).toBe('done');
    }
  });

  it('forks from before the delivery with the message as one that has no answer yet', async () => {
    const { sessionId, turn, report } = await turnAfterTool();
    await report({ events: [toolResult('call_1')] });
    const { seq } = await steer(sessionId, 'two');
    await deliver(turn);
    await report({ events: agentMessage('msg_2', 'done'), outcome: COMPLETED });
    const request = { sessionId, afterSeq: seq, idempotencyKey: '' };
    const { session: fork } = await system.edge.forkSession(request, { caller });
    const history = await historyOf(track(fork?.sessionId ?? ''));
    expect(history.map(({ type }) => type)).toEqual([
      'user.message',
      'agent.message',
      'agent.tool_result',
      'user.message',
    ]);
  });

  it('lets the message become the next turn when the turn ends first', async () => {
    const { sessionId, turn, report } = await turnAfterTool();
    const { turnId } = await steer(sessionId, 'two');
    await report({ events: [toolResult('call_1')] });
    await report({ events: agentMessage('msg_2', 'done'), outcome: COMPLETED });
    await expect(deliver(turn)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    const next = await claimTurn(system);
    expect(next).toMatchObject({ turnId, attempt: 1, steered: false });
    await createReporter(system, next)({ events: agentMessage('msg_3', 'yes'), outcome: COMPLETED });
    expect((await turnOf(sessionId, turnId)).turn).toMatchObject({
      status: 'completed',
      deliveredToTurnId: undefined,
    });
  });

  it('gives each message a turn of its own when the turn ends before all of them', async () => {
    const { sessionId, report } = await turnAfterTool();
    const { turnId: second } = await steer(sessionId, 'two');
    const { turnId: third } = await steer(sessionId, 'three');
    await report({ events: [toolResult('call_1')], outcome: COMPLETED });
    for (const turnId of [second, third]) {
      const turn = await claimTurn(system);
      expect(turn).toMatchObject({ turnId, steered: false });
      expect((await deliver(turn, 1)).messages).toEqual([]);
      await createReporter(system, turn)({ outcome: COMPLETED });
    }
  });

  it('delivers older steered messages before newer ones, also those for a turn that has ended', async () => {
    const { sessionId, report } = await turnAfterTool();
    await steer(sessionId, 'two');
    await steer(sessionId, 'three');
    const { turnId: plain } = await sendText(system, sessionId, 'plain');
    await report({ events: [toolResult('call_1')], outcome: COMPLETED });
    const turn = await claimTurn(system);
    await steer(sessionId, 'four');
    expect((await deliver(turn, 1)).messages.map(textOf)).toEqual(['three', 'four']);
    expect(promptOf(turn).at(-1)?.content).toBe('two');
    await createReporter(system, turn)({ outcome: COMPLETED });
    const last = await claimTurn(system);
    expect(last.turnId).toBe(plain);
    await createReporter(system, last)({ outcome: COMPLETED });
  });

  it('overtakes messages that wait in the queue', async () => {
    const { sessionId, turn, report } = await turnAfterTool();
    const { turnId: queued } = await sendText(system, sessionId, 'later');
    await steer(sessionId, 'now');
    expect((await deliver(turn)).messages.map(textOf)).toEqual(['now']);
    expect(await sessionOf(sessionId)).toMatchObject({ queuedTurns: 1 });
    await report({ events: [toolResult('call_1')], outcome: COMPLETED });
    const next = await claimTurn(system);
    expect(next.turnId).toBe(queued);
    await createReporter(system, next)({ outcome: COMPLETED });
  });

  it('queues a message like any other in an idle session and behind a held queue', async () => {
    const sessionId = await begin();
    const { turnId } = await steer(sessionId, 'one');
    const turn = await claimTurn(system);
    expect(turn).toMatchObject({ turnId, steered: false });
    await sendText(system, sessionId, 'two');
    await system.edge.interruptSession({ sessionId, holdQueue: true }, { caller });
    const held = await steer(sessionId, 'three');
    expect(await sessionOf(sessionId)).toMatchObject({ status: 'idle', queueHeld: true, queuedTurns: 2 });
    await system.edge.releaseQueue({ sessionId }, { caller });
    const second = await claimTurn(system);
    expect(second.steered).toBe(false);
    await createReporter(system, second)({ outcome: COMPLETED });
    const third = await claimTurn(system);
    expect(third.turnId).toBe(held.turnId);
    await createReporter(system, third)({ outcome: COMPLETED });
  });

  it('delivers a message for a blocked turn when the turn continues', async () => {
    const { sessionId, report } = await turnAfterTool();
    await report({ outcome: blockedOn({ id: 'call_1', kind: 'tool' }) });
    const { turnId } = await steer(sessionId, 'two');
    expect(await claimTurns(system)).toEqual([]);
    const page = { limit: 10, cursor: '' };
    const { approvals } = await system.edge.listApprovals({ sessionId, status: 'pending', page }, { caller });
    const decision = { decision: 'allow', reason: '', editedInputJson: '' };
    const approvalId = approvals[0]?.approvalId ?? '';
    await system.edge.decideApproval({ sessionId, approvalId, ...decision }, { caller });
    const turn = await claimTurn(system);
    expect(turn.steered).toBe(true);
    const continued = createReporter(system, turn);
    await continued({ events: [toolDispatched('call_1', 2, turn.fence), toolResult('call_1')] });
    expect((await deliver(turn)).messages.map(textOf)).toEqual(['two']);
    expect((await turnOf(sessionId, turnId)).turn?.deliveredToTurnId).toBe(turn.turnId);
    await continued({ outcome: COMPLETED });
  });

  it('delivers a message for a turn that waits for its retry with the retry', async () => {
    const { sessionId, report } = await turnAfterTool();
    await report({
      events: [toolResult('call_1')],
      outcome: { kind: { $case: 'retry', value: { error: { code: 'x', message: 'x' }, delayMs: 5_000 } } },
    });
    await steer(sessionId, 'two');
    expect(await sessionOf(sessionId)).toMatchObject({ status: 'rescheduling' });
    const turn = await claimRetry();
    expect(turn).toMatchObject({ attempt: 2, steered: true });
    expect((await deliver(turn)).messages.map(textOf)).toEqual(['two']);
    await createReporter(system, turn)({ outcome: COMPLETED });
  });

  it('lets the message become the next turn when the turn is interrupted, and holds it with the queue', async () => {
    const { sessionId } = await turnAfterTool();
    const { turnId } = await steer(sessionId, 'two');
    await system.edge.interruptSession({ sessionId, holdQueue: true }, { caller });
    expect(await sessionOf(sessionId)).toMatchObject({ queueHeld: true, queuedTurns: 1 });
    await system.edge.releaseQueue({ sessionId }, { caller });
    const next = await claimTurn(system);
    expect(next.turnId).toBe(turnId);
    await createReporter(system, next)({ outcome: COMPLETED });
  });

  it('removes a message from the queue until it is delivered', async () => {
    const { sessionId, turn, report } = await turnAfterTool();
    const removed = await steer(sessionId, 'two');
    const kept = await steer(sessionId, 'three');
    await system.edge.cancelTurn({ sessionId, turnId: removed.turnId }, { caller });
    expect((await deliver(turn)).messages.map(textOf)).toEqual(['three']);
    await expect(
      system.edge.cancelTurn({ sessionId, turnId: kept.turnId }, { caller }),
    ).rejects.toMatchObject({ code: 'TURN_NOT_QUEUED' });
    await report({ events: [toolResult('call_1')], outcome: COMPLETED });
  });

  it('regenerates the answer of the turn with the delivered message', async () => {
    const { sessionId, turn, report } = await turnAfterTool();
    const { turnId } = await steer(sessionId, 'two');
    await report({ events: [toolResult('call_1')] });
    await deliver(turn);
    await report({ events: agentMessage('msg_2', 'done'), outcome: COMPLETED });
    const regenerate = (of: string) =>
      system.edge.regenerateAnswer({ sessionId, turnId: of, idempotencyKey: '' }, { caller });
    await expect(regenerate(turnId)).rejects.toMatchObject({ code: 'TURN_NOT_LAST' });
    await regenerate('');
    const again = await claimTurn(system);
    expect(promptOf(again)).toMatchObject([{ content: 'one' }, { content: 'two' }]);
    await createReporter(system, again)({ outcome: COMPLETED });
  });

  it('waits for the turn that got the message', async () => {
    const { sessionId, turn, report } = await turnAfterTool();
    const { turnId } = await steer(sessionId, 'two');
    await deliver(turn);
    expect(await turnOf(sessionId, turnId, 0)).toMatchObject({
      turn: { turnId, status: 'completed' },
      deliveredTo: { turnId: turn.turnId, status: 'in_progress' },
    });
    const waiting = turnOf(sessionId, turnId, 60_000);
    await report({ events: [toolResult('call_1'), ...agentMessage('msg_2', 'done')], outcome: COMPLETED });
    const answered = await waiting;
    expect(answered).toMatchObject({
      turn: { turnId, status: 'completed' },
      deliveredTo: { turnId: turn.turnId, status: 'completed' },
    });
    expect(textOf(answered.lastMessage ?? { json: '' })).toBe('done');
  });

  it('delivers a pinned message as a pinned one, which still counts', async () => {
    const { sessionId, turn, report } = await turnAfterTool();
    const message = { sessionId, busyPolicy: 'steer', idempotencyKey: '', pinned: true };
    const pin = (text: string) =>
      system.edge.sendMessage({ ...message, contentJson: content(text) }, { caller });
    await pin('a'.repeat(16 * 1024));
    await report({ events: [toolResult('call_1')] });
    const { messages } = await deliver(turn);
    expect(messages.map(({ json }) => JSON.parse(json).data.pinned)).toEqual([true]);
    await report({ events: agentMessage('msg_2', 'done'), outcome: COMPLETED });
    const inHistory = (await historyOf(sessionId)).filter(({ json }) => JSON.parse(json).data.pinned);
    expect(inHistory.map(({ seq }) => seq)).toEqual(messages.map(({ seq }) => seq));
    await expect(pin('b')).rejects.toMatchObject({ code: 'PINNED_LIMIT_EXCEEDED' });
  });

  it('refuses steering with overrides, and by a deployment, with INVALID_REQUEST', async () => {
    const sessionId = await begin();
    const message = { sessionId, contentJson: content('x'), busyPolicy: 'steer', idempotencyKey: '' };
    await expect(
      system.edge.sendMessage({ ...message, overrides: { json: '{"max_steps":1}' } }, { caller }),
    ).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ pointer: '/busy_policy', message: expect.stringContaining('overrides') }],
    });
    await expect(
      sendForDelivery(system, sessionId, newDeliveryId(), { busyPolicy: 'steer' }),
    ).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(sendForDelivery(system, sessionId, newDeliveryId(), { pinned: true })).rejects.toMatchObject(
      { code: 'INVALID_REQUEST', details: [{ pointer: '/pinned' }] },
    );
  });
});
