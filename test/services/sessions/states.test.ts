import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DERIVED_STATES } from '../../../services/sessions/domain/derived-state.ts';
import { createFakeClock } from '../../support/clock.ts';
import { runOn } from '../../support/sql.ts';
import { ADMINISTRATOR, AGENT, createConversation, MANAGER, OWNER, openSystem } from './system.ts';

/** Each case sets columns of the head of a session. */
const CASES: [state: string, status: string, stopReason: string | null, current: boolean, kind?: string][] = [
  ['', 'idle', null, false],
  ['queued', 'pending', null, false],
  ['queued', 'pending', 'end_turn', false],
  ['running', 'running', 'failed', true],
  ['retrying', 'rescheduling', null, false],
  ['needs_approval', 'idle', 'requires_action', true],
  ['needs_approval', 'pending', 'requires_action', true],
  ['needs_approval', 'idle', 'requires_action', true, 'tool_approval'],
  ['needs_approval', 'idle', 'requires_action', true, 'outcome_unknown'],
  ['needs_input', 'idle', 'requires_action', true, 'tool_result'],
  ['needs_input', 'pending', 'requires_action', true, 'input'],
  ['completed', 'idle', 'end_turn', false],
  ['failed', 'idle', 'failed', false],
  ['failed', 'idle', 'retries_exhausted', false],
  ['failed', 'idle', 'refused', false],
  ['stopped', 'idle', 'interrupted', false],
  ['limit_reached', 'idle', 'budget_reached', false],
  ['limit_reached', 'idle', 'max_steps_reached', false],
];

const OUTCOMES: Record<string, string> = {
  end_turn: 'completed',
  failed: 'failed',
  retries_exhausted: 'failed',
  refused: 'failed',
  interrupted: 'stopped',
  budget_reached: 'limit_reached',
  max_steps_reached: 'limit_reached',
};

describe('the state of sessions', () => {
  let system: Awaited<ReturnType<typeof openSystem>>;
  const created: { sessionId: string; state: string }[] = [];

  beforeAll(async () => {
    system = await openSystem('in process', { clock: createFakeClock() });
    for (const [state, status, stopReason, current, kind] of CASES) {
      const sessionId = await createConversation(system);
      created.push({ sessionId, state });
      const reason = stopReason === null ? 'null' : `'${JSON.stringify({ type: stopReason, kind })}'`;
      const turn = current ? `'trn_${sessionId.slice(4)}'` : 'null';
      const outcome = OUTCOMES[stopReason ?? ''];
      await runOn(
        system.database.url,
        `set search_path = sessions;
         update heads set status = '${status}', stop_reason = ${reason}, current_turn_id = ${turn}
         where session_id = '${sessionId}';
         ${
           outcome
             ? `insert into session_outcomes (session_id, owner_id, agent_id, outcome)
                values ('${sessionId}', '${OWNER.userId}', '${AGENT}', '${outcome}');`
             : ''
         }
         ${
           status === 'idle' && !current
             ? ''
             : `insert into turns (session_id, position, turn_id, owner_id, agent_id, agent_version, priority, status,
                                   ready, created_at)
                values ('${sessionId}', 2, 'trn_${sessionId.slice(4)}', '${OWNER.userId}', '${AGENT}', 1, 0,
                        '${status === 'running' ? 'in_progress' : current ? 'blocked' : 'queued'}', false, now());`
         }`,
      );
    }
  });
  afterAll(() => system[Symbol.asyncDispose]());

  type Scope = [caller: typeof OWNER, filter: { agentId: string; reach?: string }];
  const SCOPES: Record<string, Scope> = {
    'their owner': [OWNER, { agentId: '' }],
    'a manager of the agent': [MANAGER, { agentId: AGENT, reach: 'agent' }],
    'an administrator': [ADMINISTRATOR, { agentId: '', reach: 'all' }],
  };

  /** Reads all pages of two sessions. */
  async function list([caller, filter]: Scope, states: string[]): Promise<string[]> {
    const found: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const request = { deploymentId: '', status: '', q: '', ...filter, states, page: { limit: 2, cursor } };
      const { sessions, page } = await system.edge.listSessions(request, { caller });
      found.push(...sessions.map(({ sessionId }) => sessionId));
      cursor = page?.nextCursor || undefined;
    }
    return found;
  }

  const withStates = (states: readonly string[]) =>
    created
      .filter(({ state }) => states.includes(state))
      .map(({ sessionId }) => sessionId)
      .toReversed();

  it('follows from status, stop reason and current turn', async () => {
    for (const { sessionId, state } of created) {
      const { session } = await system.edge.getSession({ sessionId }, { caller: OWNER });
      expect(session?.state).toBe(state);
    }
  });

  describe.each(Object.entries(SCOPES))('as a filter of %s', (_, scope) => {
    it.each(DERIVED_STATES)('finds exactly the sessions in state %s, newest first', async (state) => {
      expect(await list(scope, [state])).toEqual(withStates([state]));
    });

    it('finds the sessions in any of several states', async () => {
      const states = ['completed', 'needs_approval', 'failed', 'running'];
      expect(await list(scope, [...states, 'failed'])).toEqual(withStates(states));
    });
  });

  it('is refused as a filter when it is unknown', async () => {
    await expect(list([OWNER, { agentId: '' }], ['new'])).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });
});
