import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from '../../../lib/grpc/contract.ts';
import {
  type ClaimedTurn,
  SessionsServiceDefinition,
  type TurnReport,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { NO_USAGE } from '../../../services/sessions/domain/state.ts';
import { createFakeClock } from '../../support/clock.ts';
import { connect, createContext } from '../../support/context.ts';
import { advanceUntil } from '../../support/wait.ts';
import { createFakeSessions, message } from '../runner/fake-sessions.ts';
import {
  ADMINISTRATOR,
  COMPLETED,
  createConversation,
  OWNER,
  openSystem,
  reportFor,
  sendText,
} from './system.ts';
import { agentMessage, blockedOn, toolCallStep, toolDispatched, toolResult } from './turn-events.ts';

/*
 * The part of the sessions contract that runners use. The suite runs over the service and over the fake that the tests
 * of the runner use instead of it.
 */

interface Implementation extends AsyncDisposable {
  runner: Client<SessionsServiceDefinition>;
  /** Queues a turn in a session with these messages. */
  queue(...texts: string[]): Promise<void>;
  /** Takes the lease of a turn away and claims the turn again. */
  reclaim(turn: ClaimedTurn): Promise<ClaimedTurn>;
  /** Claims a turn again that was reported as retryable or blocked. Approves its pending approvals. */
  resume(turn: ClaimedTurn): Promise<ClaimedTurn>;
  /** Ends the lease of a turn. */
  revoke(turn: ClaimedTurn): Promise<void>;
  requestSandboxEnd(sandboxId: string): Promise<void>;
}

async function openService(): Promise<Implementation> {
  const clock = createFakeClock();
  const system = await openSystem('in process', { clock });
  const claimLater = (ms: number) => {
    clock.advance(ms);
    return advanceUntil(
      'the turn is ready again',
      () => clock.advance(300),
      async () => (await system.runner.claimTurns({ runnerId: 'rnr_1', slots: 1, waitMs: 0 })).turns[0],
    );
  };
  return {
    runner: system.runner,
    async queue(first, ...others) {
      const sessionId = await createConversation(system, first);
      for (const text of others) await sendText(system, sessionId, text);
    },
    reclaim: () => claimLater(16_000),
    async resume({ sessionId }) {
      const request = { sessionId, status: 'pending', page: undefined };
      const { approvals } = await system.edge.listApprovals(request, { caller: OWNER });
      for (const { approvalId } of approvals) {
        const decision = { sessionId, approvalId, decision: 'allow', reason: '', editedInputJson: '' };
        await system.edge.decideApproval(decision, { caller: OWNER });
      }
      return claimLater(2_000);
    },
    async revoke({ sessionId }) {
      await system.edge.interruptSession({ sessionId }, { caller: OWNER });
    },
    async requestSandboxEnd(sandboxId) {
      await system.edge.terminateSandbox({ sandboxId }, { caller: ADMINISTRATOR });
    },
    [Symbol.asyncDispose]: () => system[Symbol.asyncDispose](),
  };
}

async function openFake(): Promise<Implementation> {
  const context = createContext('');
  const fakeSessions = createFakeSessions(context);
  const connection = await connect(SessionsServiceDefinition, fakeSessions.endpoint, 'in process', context);
  const runner = connection.as('runner');
  let turns = 0;
  async function claimAgain({ turnId, openCalls }: ClaimedTurn, approved: string[] = []) {
    const decisions = Object.fromEntries(approved.map((toolUseId) => [toolUseId, { decision: 'allow' }]));
    fakeSessions.revokeLease(turnId);
    fakeSessions.requeue(turnId, decisions);
    const [turn] = (await runner.claimTurns({ runnerId: 'rnr_1', slots: 1, waitMs: 0 })).turns;
    if (!turn) throw new Error(`the turn with open calls ${JSON.stringify(openCalls)} is not ready`);
    return turn;
  }
  return {
    runner,
    async queue(...texts) {
      const turnId = `trn_${++turns}`;
      const messages = texts.map((text, index) => message(turnId, index + 1, 'user.message', text));
      fakeSessions.queue({ turnId, messages, page: texts.length > 1 ? 1 : undefined });
    },
    reclaim: (turn) => claimAgain(turn),
    resume: (turn) => {
      const outcome = fakeSessions.journalOf(turn.turnId).outcomes.at(-1)?.kind;
      const asks = outcome?.$case === 'blocked' ? outcome.value.asks : [];
      return claimAgain(
        turn,
        asks.map(({ toolUseId }) => toolUseId),
      );
    },
    async revoke({ turnId }) {
      fakeSessions.revokeLease(turnId);
    },
    async requestSandboxEnd(sandboxId) {
      fakeSessions.ending.add(sandboxId);
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

const APPENDED = { errorCode: '', errorMessage: '' };

describe.each([
  ['the service', openService],
  ['the fake of the runner tests', openFake],
])('sessions contract for runners, %s', (_, open) => {
  const opened: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
  });

  async function start(...texts: string[]) {
    const sessions = await open();
    opened.push(sessions);
    await sessions.queue(...(texts.length === 0 ? ['hello'] : texts));
    const { turns } = await sessions.runner.claimTurns({ runnerId: 'rnr_1', slots: 5, waitMs: 0 });
    const [turn, ...others] = turns;
    if (!turn) throw new Error('no turn was claimed');
    expect(others).toEqual([]);
    return { sessions, turn };
  }

  async function report({ runner }: Implementation, ...reports: TurnReport[]) {
    return (await runner.reportTurns({ runnerId: 'rnr_1', reports })).results;
  }

  const leaseOf = ({ sessionId, turnId, fence }: ClaimedTurn) => ({ sessionId, turnId, fence });

  it('claims a turn once', async () => {
    const { sessions, turn } = await start();
    expect(turn).toMatchObject({ attempt: 1, failures: 0, openCalls: [] });
    expect((await sessions.runner.claimTurns({ runnerId: 'rnr_2', slots: 5, waitMs: 0 })).turns).toEqual([]);
  });

  it('claims at most as many turns as there are slots', async () => {
    const sessions = await open();
    opened.push(sessions);
    for (const text of ['one', 'two', 'three']) await sessions.queue(text);
    const claim = async (slots: number) =>
      (await sessions.runner.claimTurns({ runnerId: 'rnr_1', slots, waitMs: 0 })).turns.length;
    expect([await claim(2), await claim(2)]).toEqual([2, 1]);
  });

  it('returns all messages with the claim or in pages', async () => {
    const { sessions, turn } = await start('one', 'two', 'three');
    const events = turn.messagesIncomplete ? [] : [...turn.messages];
    for (let cursor = ''; turn.messagesIncomplete; ) {
      const page = { limit: 1, cursor };
      const answer = await sessions.runner.listMessages({ sessionId: turn.sessionId, page });
      events.push(...answer.events);
      cursor = answer.page?.nextCursor ?? '';
      if (cursor === '') break;
    }
    const texts = events.map(({ json }) => JSON.parse(json).data.content[0].text);
    expect(texts).toEqual(['one', 'two', 'three']);
  });

  it('accepts a repeated report without appending it again', async () => {
    const { sessions, turn } = await start();
    const usage = { ...NO_USAGE, inputTokens: 1, outputTokens: 2, steps: 3, toolCalls: 4, activeMs: 5 };
    const first = reportFor(turn, 1, { events: agentMessage('msg_1', 'hi'), usage });
    expect(await report(sessions, first)).toMatchObject([APPENDED]);
    expect(await report(sessions, first)).toMatchObject([APPENDED]);
    const again = await sessions.reclaim(turn);
    expect(again.usage).toEqual(usage);
    expect(again.messages.map(({ type }) => type)).toEqual(['user.message', 'agent.message']);
  });

  it('refuses reports after the outcome with LEASE_LOST', async () => {
    const { sessions, turn } = await start();
    expect(await report(sessions, reportFor(turn, 1, { outcome: COMPLETED }))).toMatchObject([APPENDED]);
    expect(await report(sessions, reportFor(turn, 2))).toMatchObject([{ errorCode: 'LEASE_LOST' }]);
  });

  it('refuses reports and sandboxes of an earlier lease with LEASE_LOST', async () => {
    const { sessions, turn } = await start();
    const next = await sessions.reclaim(turn);
    expect(next).toMatchObject({ turnId: turn.turnId, attempt: 2 });
    expect(next.fence).toBeGreaterThan(turn.fence);
    expect(await report(sessions, reportFor(turn, 1))).toMatchObject([{ errorCode: 'LEASE_LOST' }]);
    await expect(takeSandbox(sessions, turn, 'sbx_1')).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await report(sessions, reportFor(next, 1, { outcome: COMPLETED }))).toMatchObject([APPENDED]);
  });

  it('returns the turns of lost leases when leases are renewed', async () => {
    const { sessions, turn } = await start();
    const renew = async (fence: number) =>
      (await sessions.runner.renewLeases({ runnerId: 'rnr_1', leases: [{ ...leaseOf(turn), fence }] }))
        .lostTurnIds;
    expect(await renew(turn.fence)).toEqual([]);
    expect(await renew(turn.fence - 1)).toEqual([turn.turnId]);
    await sessions.revoke(turn);
    expect(await renew(turn.fence)).toEqual([turn.turnId]);
  });

  it('returns the open calls and their dispatches with the next attempt', async () => {
    const { sessions, turn } = await start();
    const calls = ['call_1', 'call_2', 'call_3'].map((id) => ({ id }));
    await report(sessions, reportFor(turn, 1, { events: toolCallStep('msg_1', ...calls) }));
    const dispatches = ['call_1', 'call_2'].map((id) => toolDispatched(id, 1, turn.fence));
    await report(sessions, reportFor(turn, 2, { events: [...dispatches, toolResult('call_1')] }));
    expect((await sessions.reclaim(turn)).openCalls).toEqual([
      { toolUseId: 'call_2', dispatches: 1, decision: undefined },
      { toolUseId: 'call_3', dispatches: 0, decision: undefined },
    ]);
  });

  it('returns the decision about a call with the next attempt', async () => {
    const { sessions, turn } = await start();
    const call = { id: 'call_1', input: { by: 1 } };
    const events = toolCallStep('msg_1', call);
    expect(await report(sessions, reportFor(turn, 1, { events, outcome: blockedOn(call) }))).toMatchObject([
      APPENDED,
    ]);
    expect(await report(sessions, reportFor(turn, 2))).toMatchObject([{ errorCode: 'LEASE_LOST' }]);
    const [open] = (await sessions.resume(turn)).openCalls;
    expect(open).toMatchObject({
      toolUseId: 'call_1',
      dispatches: 0,
      decision: { kind: 'tool', decision: 'allow', inputJson: '{"by":1}', edited: false, dispatches: 0 },
    });
  });

  it('counts retryable failures until the turn makes progress', async () => {
    const { sessions, turn } = await start();
    const error = { code: 'model_overloaded', message: 'busy' };
    const outcome = { kind: { $case: 'retry' as const, value: { error, delayMs: 1_000 } } };
    await report(sessions, reportFor(turn, 1, { outcome }));
    const second = await sessions.resume(turn);
    expect(second).toMatchObject({ attempt: 2, failures: 1 });
    await report(sessions, reportFor(second, 1, { events: agentMessage('msg_1', 'hi') }));
    await report(sessions, reportFor(second, 2, { outcome }));
    expect(await sessions.resume(second)).toMatchObject({ attempt: 3, failures: 1 });
  });

  function takeSandbox({ runner }: Implementation, turn: ClaimedTurn, sandboxId: string) {
    return runner.takeSandbox({
      runnerId: 'rnr_1',
      lease: leaseOf(turn),
      sandboxId,
      provider: 'simulated',
      isolation: 'simulation',
      tenancy: 'session',
      tenantId: turn.sessionId,
      environmentId: 'env_1',
      environmentVersion: 1,
      limitsJson: '{}',
    });
  }

  it('grants a sandbox until its end is requested', async () => {
    const { sessions, turn } = await start();
    const status = async (sandboxId: string) =>
      (
        await sessions.runner.reportSandboxes({
          runnerId: 'rnr_1',
          sandboxes: [{ sandboxId, status: 'ready', reason: '' }],
        })
      ).endSandboxIds;
    expect(await takeSandbox(sessions, turn, 'sbx_1')).toEqual({ granted: true });
    expect(await status('sbx_1')).toEqual([]);
    expect(await status('sbx_unknown')).toEqual(['sbx_unknown']);
    await sessions.requestSandboxEnd('sbx_1');
    expect(await status('sbx_1')).toEqual(['sbx_1']);
    expect(await takeSandbox(sessions, turn, 'sbx_1')).toEqual({ granted: false });
  });
});
