import { draft, type EventDraft } from './change.ts';
import { addUsage, type SessionState, type TurnState } from './state.ts';
import { publicUsage, traceFields } from './turn-fields.ts';

interface Counted {
  state: SessionState;
  turn: TurnState;
  drafts: EventDraft[];
}

/**
 * Counts the model request that the runner of the turn has not finished, with its estimate, and finishes it in the
 * journal. The runner has lost the turn and can no longer report. Nothing changes without such a request.
 */
export function countOpenModelRequest(state: SessionState, turn: TurnState, now: Date): Counted {
  const open = turn.openModelRequest;
  if (!open) return { state, turn, drafts: [] };
  const { steps, tool_calls, active_seconds, ...usage } = publicUsage({ ...open.usage, estimated: true });
  const finished = draft(
    'model.request_finished',
    {
      model: open.model,
      usage,
      duration_ms: Math.max(0, now.getTime() - open.startedAt.getTime()),
      is_error: true,
    },
    { type: 'agent', id: state.agentId },
    traceFields(turn),
  );
  const used = { ...open.usage, estimated: true };
  const nextTurn = { ...turn, usage: addUsage(turn.usage, used), openModelRequest: null };
  const current = state.current?.turnId === turn.turnId ? nextTurn : state.current;
  return {
    state: { ...state, usage: addUsage(state.usage, used), current },
    turn: nextTurn,
    drafts: [finished],
  };
}
