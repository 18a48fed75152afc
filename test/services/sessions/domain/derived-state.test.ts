import { describe, expect, it } from 'vitest';
import { derivedState } from '../../../../services/sessions/domain/derived-state.ts';

describe('derivedState', () => {
  it.each([
    ['terminated', 'end_turn', false, 'failed'],
    ['terminated', null, true, 'failed'],
    ['pending', 'requires_action', true, 'needs_approval'],
    ['idle', 'requires_action', true, 'needs_approval'],
    ['idle', 'tool_result', true, 'needs_input'],
    ['pending', 'input', true, 'needs_input'],
    ['running', 'failed', true, 'running'],
    ['rescheduling', 'end_turn', false, 'retrying'],
    ['pending', 'failed', false, 'queued'],
    ['idle', 'interrupted', false, 'stopped'],
    ['idle', null, false, undefined],
  ] as const)('of a %s session with stop reason %s and current turn: %s is %s', (...given) => {
    const [status, type, hasCurrentTurn, expected] = given;
    const stopReason =
      type === 'tool_result' || type === 'input'
        ? { type: 'requires_action' as const, kind: type, blocking: [] }
        : type && { type };
    expect(derivedState({ status, stopReason, hasCurrentTurn })).toBe(expected);
  });
});
