import { describe, expect, it } from 'vitest';
import { type Report, report } from '../../../../services/sessions/domain/run.ts';
import { NO_USAGE } from '../../../../services/sessions/domain/state.ts';
import {
  callWithApproval,
  dataOf,
  LIMITS,
  NEXT,
  NOW,
  openCall,
  sessionState,
  turnState,
  typesOf,
} from './states.ts';

const sent = (fields: Partial<Report> = {}): Report => ({
  turnId: 'trn_1',
  fence: 5,
  reportSeq: 1,
  events: [],
  calls: [],
  openMessageId: '',
  usage: NO_USAGE,
  openModelRequest: null,
  outcome: undefined,
  ...fields,
});
const event = (type: string) => ({ type, dataJson: '{}' });
const running = (turn = turnState()) => sessionState({ current: turn });
const apply = (fields: Partial<Report> = {}, state = running()) => report(state, sent(fields), LIMITS, NOW);

describe('report', () => {
  it.each([
    ['no turn is current', sessionState()],
    ['another turn is current', running(turnState({ turnId: 'trn_2' }))],
    ['the turn has a newer fence', running(turnState({ fence: 6 }))],
    ['the turn is blocked', running(turnState({ status: 'blocked' }))],
  ])('refuses with LEASE_LOST when %s', (_, state) => {
    expect(() => apply({}, state)).toThrow(expect.objectContaining({ code: 'LEASE_LOST' }));
  });

  it.each([
    [0, 3, true],
    [3, 3, false],
    [2, 3, false],
    [4, 3, true],
  ])('with report_seq %i after %i is appended: %s', (reportSeq, last, isAppended) => {
    const change = apply(
      { reportSeq, events: [event('agent.message')] },
      running(turnState({ reportSeq: last })),
    );
    expect(typesOf(change)).toEqual(isAppended ? ['agent.message'] : []);
    expect(change.turns).toHaveLength(isAppended ? 1 : 0);
  });

  it.each([
    ['agent.message', true],
    ['agent.tool_result', true],
    ['agent.message_delta', false],
    ['model.request_started', false],
  ])('with %s counts as progress: %s', (type, isProgress) => {
    const before = turnState({ failures: 2, attempt: 4, lastProgressAttempt: 1 });
    const [turn] = apply({ events: [event(type)] }, running(before)).turns;
    expect(turn).toMatchObject(
      isProgress ? { failures: 0, lastProgressAttempt: 4 } : { failures: 2, lastProgressAttempt: 1 },
    );
  });

  it('adds usage to the turn and to the session', () => {
    const usage = {
      ...{ inputTokens: 10, outputTokens: 20, steps: 3, toolCalls: 4, activeMs: 5 },
      ...{ cachedInputTokens: 6, cacheWriteTokens: 2, reasoningTokens: 7, estimated: false },
    };
    const state = { ...running(turnState({ usage })), usage };
    const change = apply({ usage }, state);
    const doubled = {
      ...{ inputTokens: 20, outputTokens: 40, steps: 6, toolCalls: 8, activeMs: 10 },
      ...{ cachedInputTokens: 12, cacheWriteTokens: 4, reasoningTokens: 14, estimated: false },
    };
    expect(change.turns[0]?.usage).toEqual(doubled);
    expect(change.head.usage).toEqual(doubled);
  });

  it.each(['session.status_idle', 'user.message', 'turn.completed', 'approval.decided'])(
    'refuses the event type %s, which only the service writes',
    (type) => {
      expect(() => apply({ events: [event(type)] })).toThrow(
        expect.objectContaining({ code: 'INVALID_REQUEST' }),
      );
    },
  );

  it.each([
    ['opens a call that is open already', [openCall()], { kind: 'used', toolUseId: 'call_1', name: 'count' }],
    ['ends a call that is not open', [], { kind: 'ended', toolUseId: 'call_1' }],
    ['dispatches a call that is not open', [], { kind: 'dispatched', toolUseId: 'call_1', attempt: 1 }],
    [
      'repeats a dispatch with the same attempt',
      [openCall({ dispatches: 1 })],
      { kind: 'dispatched', toolUseId: 'call_1', attempt: 1 },
    ],
    [
      'dispatches a call with a pending approval',
      [callWithApproval('1')],
      { kind: 'dispatched', toolUseId: 'call_1', attempt: 1 },
    ],
  ] as const)('refuses a report that %s', (_, calls, transition) => {
    const act = () => apply({ calls: [transition] }, running(turnState({ calls })));
    expect(act).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
  });

  it.each(['end_turn', 'budget_reached', 'max_steps_reached', 'refused'] as const)(
    'completes the turn with the stop reason %s',
    (stopReason) => {
      const change = apply({ outcome: { kind: 'completed', stopReason } });
      expect(typesOf(change)).toEqual(['turn.completed', 'session.status_idle']);
      expect(change.head).toMatchObject({ status: 'idle', stopReason: { type: stopReason }, fence: 6 });
      expect(change.turns).toMatchObject([{ status: 'completed', finishedAt: NOW, leaseUntil: null }]);
    },
  );

  it('fails the turn with the stop reason failed when the error is not retryable', () => {
    const error = { code: 'model_bad_request', message: 'no' };
    const change = apply({ outcome: { kind: 'failed', error } });
    expect(typesOf(change)).toEqual(['session.error', 'turn.failed', 'session.status_idle']);
    expect(dataOf(change, 'session.error')).toEqual({ error, retry_status: 'terminal' });
    expect(change.head.stopReason).toEqual({ type: 'failed' });
  });

  it('makes the next turn of the queue ready when the turn ends', () => {
    const state = sessionState({ current: turnState(), next: NEXT, queuedTurns: 1 });
    const change = apply({ outcome: { kind: 'completed', stopReason: 'end_turn' } }, state);
    expect(change).toMatchObject({ promote: NEXT.position, head: { status: 'pending', queuedTurns: 1 } });
    expect(typesOf(change)).toEqual(['turn.completed', 'session.status_pending']);
  });

  it('gives every open call a result when the turn ends', () => {
    const calls = [openCall({ dispatches: 1 }), openCall({ toolUseId: 'call_2' })];
    const outcome = { kind: 'completed' as const, stopReason: 'end_turn' as const };
    const change = apply({ outcome }, running(turnState({ calls })));
    const results = change.drafts.filter(({ type }) => type === 'agent.tool_result');
    expect(results.map(({ dataJson }) => JSON.parse(dataJson))).toMatchObject([
      { tool_use_id: 'call_1', is_error: true, output: expect.stringContaining('unknown') },
      { tool_use_id: 'call_2', is_error: true, output: expect.stringContaining('before') },
    ]);
    expect(change.turns[0]?.calls).toEqual([]);
  });

  it.each([
    [['tool'], 'tool_approval'],
    [['outcome_unknown'], 'outcome_unknown'],
    [['tool', 'outcome_unknown'], 'outcome_unknown'],
  ] as const)('with approval requests %j blocks the turn with kind %s', (kinds, kind) => {
    const calls = kinds.map((_, index) => openCall({ toolUseId: `call_${index}` }));
    const requests = kinds.map((one, index) => ({
      kind: one,
      toolUseId: `call_${index}`,
      toolName: 'count',
      inputJson: '{}',
      inputSha256: 'digest',
      approvalId: `apr_${index}`,
      eventId: `evt_${index}`,
    }));
    const outcome = {
      kind: 'blocked' as const,
      requests: { approvals: requests, answers: [] },
      expiresAt: NOW,
    };
    const change = apply({ outcome }, running(turnState({ calls })));
    const blocking = requests.map(({ eventId }) => eventId);
    expect(change.head.stopReason).toEqual({ type: 'requires_action', kind, blocking });
    expect(change.head).toMatchObject({ status: 'idle', currentTurnId: 'trn_1', fence: 6 });
    expect(change.turns).toMatchObject([{ status: 'blocked', runnerId: null, leaseUntil: null }]);
    expect(change.newApprovals).toHaveLength(kinds.length);
  });

  it.each([
    ['no request', [], []],
    ['a call that is not open', [], ['call_1']],
    ['a call with a pending approval', [callWithApproval('1')], ['call_1']],
  ] as const)('refuses to block the turn with %s', (_, calls, toolUseIds) => {
    const approvals = toolUseIds.map((toolUseId) => ({
      kind: 'tool' as const,
      toolUseId,
      toolName: 'count',
      inputJson: '{}',
      inputSha256: 'digest',
      approvalId: 'apr_2',
      eventId: 'evt_2',
    }));
    const requests = { approvals, answers: [] };
    const act = () =>
      apply({ outcome: { kind: 'blocked', requests, expiresAt: NOW } }, running(turnState({ calls })));
    expect(act).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
  });
});
