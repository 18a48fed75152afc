import { describe, expect, it } from 'vitest';
import { draft, unchanged } from '../../../../services/sessions/domain/change.ts';
import { queueCompaction } from '../../../../services/sessions/domain/compact.ts';
import { SYSTEM_ACTOR } from '../../../../services/sessions/domain/create.ts';
import { finish } from '../../../../services/sessions/domain/finish.ts';
import { send } from '../../../../services/sessions/domain/send.ts';
import { signalsOf } from '../../../../services/sessions/domain/signals.ts';
import { NO_CONTEXT } from '../../../../services/sessions/store/decisions.ts';
import { NEXT, NOW, sessionState, turnState, USER } from './states.ts';

const running = turnState();
const message = {
  ...{ turnId: 'trn_new', contentJson: '[]', actor: USER, traceparent: undefined, overridesJson: undefined },
  ...{ busyPolicy: 'interrupt' as const, now: NOW },
};

describe('signalsOf', () => {
  it('returns none for a session that no schedule uses', () => {
    const state = sessionState({ current: running });
    expect(signalsOf(state, finish(state, running, { type: 'end_turn' }, NOW), NOW)).toEqual([]);
  });

  it('returns the signals of one change in the order of its events, with the states after it', () => {
    const state = sessionState({ hasSignals: true, current: running });
    const change = send(state, NO_CONTEXT, { ...message, isTriggered: false });
    expect(signalsOf(state, change, NOW)).toMatchObject([
      { kind: 'turn_ended', turn: { turnId: 'trn_1', status: 'interrupted', finishedAt: NOW } },
      { kind: 'turn_queued', turn: { turnId: 'trn_new', status: 'queued', finishedAt: null } },
    ]);
  });

  it('begins with the message of a deployment', () => {
    const state = sessionState({ status: 'idle' });
    const kinds = (isTriggered: boolean) =>
      signalsOf(state, send(state, NO_CONTEXT, { ...message, isTriggered }), NOW).map(({ kind }) => kind);
    expect(kinds(true)).toEqual(['turn_queued']);
    expect(kinds(false)).toEqual([]);
  });

  it('gives an ended turn its own stop reason when another turn is next', () => {
    const state = sessionState({ hasSignals: true, current: running, next: NEXT, queuedTurns: 1 });
    const change = finish(state, running, { type: 'budget_reached' }, NOW);
    expect(signalsOf(state, change, NOW)).toMatchObject([
      { kind: 'turn_ended', turn: { stopReasonJson: '{"type":"budget_reached"}' } },
    ]);
  });

  it('returns none for a compaction, which answers no message', () => {
    const compacting = turnState({ kind: 'compaction' });
    const state = sessionState({ hasSignals: true, current: compacting });
    expect(signalsOf(state, finish(state, compacting, { type: 'end_turn' }, NOW), NOW)).toEqual([]);
    const idle = sessionState({ hasSignals: true, status: 'idle' });
    const turn = { turnId: 'trn_new', actor: USER, traceparent: undefined };
    expect(signalsOf(idle, queueCompaction(idle, turn), NOW)).toEqual([]);
  });

  it('ignores events that are not signalled', () => {
    const state = sessionState({ hasSignals: true, current: running });
    const updated = draft('session.updated', { changed: ['title'] }, SYSTEM_ACTOR);
    expect(signalsOf(state, { ...unchanged(state), drafts: [updated] }, NOW)).toEqual([]);
  });
});
