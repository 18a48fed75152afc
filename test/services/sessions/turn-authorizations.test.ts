import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ask, ClaimedTurn, TurnReport } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createFakeClock } from '../../support/clock.ts';
import { advanceUntil } from '../../support/wait.ts';
import { approvalsOf, blockedWith, decide } from './call-approvals.ts';
import { trackSessions } from './created-sessions.ts';
import {
  claimTurn,
  claimTurns,
  createConversation,
  journalOf,
  OWNER,
  openSystem,
  reportFor,
  sendReports,
  sendText,
  typesOf,
} from './system.ts';
import { createReporter } from './turn-events.ts';

const caller = OWNER;
const DETAILS = { model_provider: 'openai', name: 'openai', reason: 'unavailable', who: 'administrator' };
const ASK: Ask = {
  kind: 'authorization',
  toolUseId: '',
  toolName: '',
  inputJson: '',
  detailsJson: JSON.stringify(DETAILS),
};
const RETRY: TurnReport['outcome'] = {
  kind: {
    $case: 'retry',
    value: {
      error: { code: 'dependency_unavailable', message: 'unavailable' },
      delayMs: 1,
      whenExhausted: { asks: [ASK] },
    },
  },
};

describe('authorizations of a turn', () => {
  const clock = createFakeClock();
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem('in process', { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());
  const { track } = trackSessions(() => system);

  async function openTurn() {
    const sessionId = await createConversation(system, 'Well?');
    track(sessionId);
    return { sessionId, turn: await claimTurn(system) };
  }
  const block = async () => {
    const { sessionId, turn } = await openTurn();
    await createReporter(system, turn)({ outcome: blockedWith(ASK) });
    return { sessionId, turn, approval: (await approvalsOf(system, sessionId))[0] };
  };
  const sessionOf = async (sessionId: string) =>
    (await system.edge.getSession({ sessionId }, { caller })).session;
  const eventsOf = async (sessionId: string) =>
    (await journalOf(system, sessionId)).map(({ json }) => JSON.parse(json));

  /** Retries the turn until it blocks. Returns the number of retries. */
  async function exhaust(sessionId: string, turn: ClaimedTurn): Promise<number> {
    for (let current = turn, retries = 0; ; retries++) {
      await createReporter(system, current)({ outcome: RETRY });
      if ((await sessionOf(sessionId))?.needsAction) return retries;
      const isReady = async () => {
        const [claimed] = await claimTurns(system, 1);
        current = claimed ?? current;
        return claimed !== undefined;
      };
      await advanceUntil('the turn is ready', () => clock.advance(250), isReady);
    }
  }

  it('block it when its retries are spent, and allow all retries after a decision', async () => {
    const { sessionId, turn } = await openTurn();
    const retries = await exhaust(sessionId, turn);
    expect(retries).toBeGreaterThan(0);
    const [approval] = await approvalsOf(system, sessionId);
    expect(approval).toMatchObject({ kind: 'authorization', toolUseId: '', toolName: '', inputJson: '' });
    expect(JSON.parse(approval?.detailsJson ?? '')).toEqual(DETAILS);
    const requested = (await eventsOf(sessionId)).find(({ type }) => type === 'approval.requested');
    expect(Object.keys(requested.data).toSorted()).toEqual(['approval_id', 'details', 'expires_at', 'kind']);
    const session = await sessionOf(sessionId);
    expect(session).toMatchObject({ state: 'needs_input', needsAction: true });
    expect(JSON.parse(session?.stopReasonJson ?? '')).toEqual({
      type: 'requires_action',
      kind: 'authorization',
      blocking: [requested.event_id],
    });
    expect(await claimTurns(system)).toEqual([]);
    await decide(system, approval, 'retry');
    const next = await claimTurn(system);
    expect(next).toMatchObject({ turnId: turn.turnId, failures: 0, openCalls: [] });
    expect(await exhaust(sessionId, next)).toBe(retries);
    expect(typesOf(await journalOf(system, sessionId))).not.toContain('turn.failed');
  });

  it('fail the turn with the reason when they are denied', async () => {
    const { sessionId, approval } = await block();
    expect(await decide(system, approval, 'deny', { reason: 'Not today.' })).toMatchObject({
      status: 'decided',
    });
    const events = await eventsOf(sessionId);
    expect(events.find(({ type }) => type === 'turn.failed').data.error).toEqual({
      code: 'authorization_denied',
      message: 'The request for a credential of the turn was denied: Not today.',
    });
    expect(events.slice(-5).map(({ type }) => type)).toEqual([
      'user.tool_approval',
      'approval.decided',
      'session.error',
      'turn.failed',
      'session.status_idle',
    ]);
    expect(await sessionOf(sessionId)).toMatchObject({ state: 'failed', needsAction: false });
    expect(await claimTurns(system)).toEqual([]);
  });

  it('start the next turn of the session when they are denied', async () => {
    const { sessionId, turn, approval } = await block();
    await sendText(system, sessionId, 'And now?');
    expect(await claimTurns(system)).toEqual([]);
    await decide(system, approval, 'deny');
    const next = await claimTurn(system);
    expect(next.sessionId).toBe(sessionId);
    expect(next.turnId).not.toBe(turn.turnId);
  });

  it('expire, after which the turn has failed', async () => {
    const { sessionId } = await block();
    const isExpired = async () => (await approvalsOf(system, sessionId))[0]?.status === 'expired';
    await advanceUntil('the approval has expired', () => clock.advance(30_000), isExpired);
    const events = await eventsOf(sessionId);
    expect(events.find(({ type }) => type === 'turn.failed').data.error.code).toBe('authorization_expired');
    expect(events.find(({ type }) => type === 'approval.decided').data).toMatchObject({
      decision: 'deny',
      by: 'system',
      reason: 'expired',
    });
  });

  it('are cancelled by an interrupt', async () => {
    const { sessionId, approval } = await block();
    await system.edge.interruptSession({ sessionId }, { caller });
    expect(await approvalsOf(system, sessionId)).toMatchObject([{ status: 'cancelled' }]);
    expect(typesOf(await journalOf(system, sessionId))).not.toContain('agent.tool_result');
    await expect(decide(system, approval, 'retry')).rejects.toMatchObject({
      code: 'APPROVAL_ALREADY_DECIDED',
    });
  });

  it('refuse other decisions and stay open', async () => {
    const { approval } = await block();
    await expect(decide(system, approval, 'allow')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await decide(system, approval, 'deny')).toMatchObject({ status: 'decided' });
  });

  it.each([
    ['two of them', [ASK, ASK]],
    ['an input without a call', [{ ...ASK, kind: 'input', state: Buffer.from('x') }]],
    ['an approval of a tool without a call', [{ ...ASK, kind: 'tool', inputJson: '{}' }]],
  ])('refuse a report with %s', async (_, asks) => {
    const { turn } = await openTurn();
    const results = await sendReports(system, reportFor(turn, 1, { outcome: blockedWith(...asks) }));
    expect(results).toMatchObject([{ errorCode: 'INVALID_REQUEST' }]);
  });
});
