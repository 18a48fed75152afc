import { describe, expect, it } from 'vitest';
import {
  type ApprovalDecision,
  decide,
  expire,
  validateDecision,
} from '../../../../services/sessions/domain/decide.ts';
import { callWithApproval, dataOf, NEXT, NOW, sessionState, turnState, typesOf, USER } from './states.ts';

const decision = (fields: Partial<ApprovalDecision> = {}): ApprovalDecision => ({
  approvalId: 'apr_1',
  decision: 'allow',
  reason: '',
  editedInputJson: '',
  editedSha256: '',
  actor: USER,
  decidedBy: USER.id,
  now: NOW,
  ...fields,
});
const blocked = (...calls: ReturnType<typeof callWithApproval>[]) =>
  sessionState({ status: 'idle', current: turnState({ status: 'blocked', calls, leaseUntil: null }) });

describe('validateDecision', () => {
  it.each([
    ['tool', 'allow', '', true],
    ['tool', 'deny', '', true],
    ['tool', 'allow', '{}', true],
    ['tool', 'deny', '{}', false],
    ['tool', 'retry', '', false],
    ['tool', 'mark_done', '', false],
    ['outcome_unknown', 'retry', '', true],
    ['outcome_unknown', 'mark_done', '', true],
    ['outcome_unknown', 'mark_failed', '', true],
    ['outcome_unknown', 'allow', '', false],
    ['outcome_unknown', 'retry', '{}', false],
    ['other', 'allow', '', false],
  ])('for kind %s accepts %s with edited input %j: %s', (kind, name, editedInputJson, isValid) => {
    const act = () => validateDecision(kind, decision({ decision: name, editedInputJson }));
    if (isValid) expect(act).not.toThrow();
    else expect(act).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
  });
});

describe('decide', () => {
  it('queues the turn when its last approval is decided', () => {
    const change = decide(blocked(callWithApproval('1'), callWithApproval('2', 'deny')), decision());
    expect(typesOf(change)).toEqual(['user.tool_approval', 'approval.decided', 'session.status_pending']);
    expect(change.turns).toMatchObject([{ status: 'queued', ready: true }]);
    expect(change.head).toMatchObject({ status: 'pending', currentTurnId: null, queuedTurns: 1 });
    expect(change.turns[0]?.calls.map(({ approval }) => approval?.decision)).toEqual(['allow', 'deny']);
  });

  it('keeps the turn blocked while another approval is pending', () => {
    const change = decide(blocked(callWithApproval('1'), callWithApproval('2')), decision());
    expect(typesOf(change)).toEqual(['user.tool_approval', 'approval.decided']);
    expect(change.turns).toMatchObject([{ status: 'blocked' }]);
    expect(change.head).toMatchObject({ status: 'idle', currentTurnId: 'trn_1', queuedTurns: 0 });
  });

  it('does not repeat the status of a session with queued turns', () => {
    const state = {
      ...blocked(callWithApproval('1')),
      status: 'pending' as const,
      queuedTurns: 1,
      next: NEXT,
    };
    const change = decide(state, decision());
    expect(typesOf(change)).not.toContain('session.status_pending');
    expect(change.head).toMatchObject({ status: 'pending', queuedTurns: 2 });
  });

  it.each([
    ['no turn is blocked', sessionState()],
    ['the turn runs', sessionState({ current: turnState({ calls: [callWithApproval('1')] }) })],
    ['the approval is decided', blocked(callWithApproval('1', 'deny'), callWithApproval('2'))],
    ['the turn waits for another approval', blocked(callWithApproval('2'))],
  ])('refuses with APPROVAL_ALREADY_DECIDED when %s', (_, state) => {
    expect(() => decide(state, decision())).toThrow(
      expect.objectContaining({ code: 'APPROVAL_ALREADY_DECIDED' }),
    );
  });

  it('records reason, edited input and user', () => {
    const input = decision({ reason: 'fine', editedInputJson: '{"by":7}', editedSha256: 'digest' });
    const change = decide(blocked(callWithApproval('1')), input);
    expect(dataOf(change, 'user.tool_approval')).toEqual({
      approval_id: 'apr_1',
      decision: 'allow',
      reason: 'fine',
      edited_input: { by: 7 },
    });
    expect(change.closedApprovals).toEqual([
      {
        approvalId: 'apr_1',
        status: 'decided',
        decision: 'allow',
        decidedBy: USER.id,
        reason: 'fine',
        editedInputJson: '{"by":7}',
        editedSha256: 'digest',
      },
    ]);
  });
});

describe('expire', () => {
  it('counts as denied by the system and queues the turn', () => {
    const change = expire(blocked(callWithApproval('1')), 'apr_1', NOW);
    expect(dataOf(change, 'approval.decided')).toEqual({
      approval_id: 'apr_1',
      decision: 'deny',
      by: 'system',
      reason: 'expired',
    });
    expect(typesOf(change)).not.toContain('user.tool_approval');
    expect(change.turns).toMatchObject([{ status: 'queued', ready: true }]);
  });

  it('closes the approval of a turn that no longer waits, without an event', () => {
    const change = expire(sessionState(), 'apr_1', NOW);
    expect(change).toMatchObject({ drafts: [], turns: [] });
    expect(change.closedApprovals).toEqual([{ approvalId: 'apr_1', status: 'expired', reason: 'expired' }]);
  });
});
