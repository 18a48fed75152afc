import { describe, expect, it } from 'vitest';
import { derivedState } from '../../../../services/sessions/domain/derived-state.ts';

describe('derivedState', () => {
  it.each([
    ['terminated', 'end_turn', false, 'failed'],
    ['terminated', null, true, 'failed'],
    ['pending', 'requires_action', true, 'needs_approval'],
    ['idle', 'requires_action', true, 'needs_approval'],
    ['running', 'failed', true, 'running'],
    ['rescheduling', 'end_turn', false, 'retrying'],
    ['pending', 'failed', false, 'queued'],
    ['idle', 'interrupted', false, 'stopped'],
    ['idle', null, false, undefined],
  ] as const)('of a %s session with stop reason %s and current turn: %s is %s', (...given) => {
    const [status, type, hasCurrentTurn, expected] = given;
    const stopReason = type === 'requires_action' ? { type, blocking: [] } : type && { type };
    expect(derivedState({ status, stopReason, hasCurrentTurn })).toBe(expected);
  });
});
