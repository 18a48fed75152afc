import { describe, expect, it } from 'vitest';
import { isActive, isStoppable } from '../../console/api/session-state.ts';
import { filtersOf, readSessionsSearch } from '../../console/pages/sessions/search.ts';
import { SESSION_STATES, stateLabel } from '../../console/parts/sessions/state.ts';
import { SESSION_STATES as API_STATES } from '../../edge/schemas/sessions.ts';

describe('session states', () => {
  it('have a label for each state of the API and for a session without a turn', () => {
    expect([...SESSION_STATES].sort()).toEqual([...API_STATES].sort());
    expect([...SESSION_STATES, null].map(stateLabel)).toEqual([
      'Needs input',
      'Needs approval',
      'Running',
      'Retrying',
      'Queued',
      'Completed',
      'Failed',
      'Stopped',
      'Limit reached',
      'New',
    ]);
  });

  it('are active or can be stopped while a turn is unfinished', () => {
    const states = (has: (session: { state: (typeof SESSION_STATES)[number] | null }) => boolean) =>
      [...SESSION_STATES, null].filter((state) => has({ state }));
    expect(states(isActive)).toEqual(['running', 'retrying', 'queued']);
    expect(states(isStoppable)).toEqual(['needs_input', 'needs_approval', 'running', 'retrying', 'queued']);
  });
});

describe('the search parameters of the session list', () => {
  it('accept each state as the filter of the API', () => {
    for (const state of SESSION_STATES)
      expect(filtersOf(readSessionsSearch({ state })).state).toEqual([state]);
  });

  it('ignore an unknown state', () => {
    expect(filtersOf(readSessionsSearch({ state: 'idle' })).state).toBeUndefined();
  });
});
