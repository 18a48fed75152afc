import { refuse } from '../../../lib/errors.ts';
import type { ClientCallKind } from '../../../lib/event-types.ts';
import { type ClosedApproval, type ClosedClientCall, draft, type EventDraft } from './change.ts';
import { SYSTEM_ACTOR } from './create.ts';
import type { OpenCall, TurnState } from './state.ts';

/** A change of one tool call in a report. */
export type ToolCallTransition =
  | {
      kind: 'used';
      toolUseId: string;
      name: string;
      /** Set for a call that the client answers. */
      client?: { kind: ClientCallKind; eventId: string } | undefined;
    }
  | { kind: 'dispatched'; toolUseId: string; attempt: number }
  | { kind: 'ended'; toolUseId: string };

/**
 * Returns the open calls after these transitions. A call is dispatched only with the next attempt number, so that a
 * runner that does not know of an earlier dispatch cannot repeat it, and never while it waits for an approval or an answer.
 */
export function applyTransitions(
  calls: readonly OpenCall[],
  transitions: readonly ToolCallTransition[],
): readonly OpenCall[] {
  let open = calls;
  for (const transition of transitions) {
    const call = open.find(({ toolUseId }) => toolUseId === transition.toolUseId);
    if (transition.kind === 'used') {
      if (call) throw refuse('INVALID_REQUEST', `Tool call ${transition.toolUseId} is already open.`);
      const { toolUseId, name, client } = transition;
      const used = { toolUseId, name, dispatches: 0, approval: null };
      open = [...open, client ? { ...used, client: { ...client, isAwaited: false } } : used];
      continue;
    }
    if (!call) throw refuse('INVALID_REQUEST', `Tool call ${transition.toolUseId} is not open.`);
    if (transition.kind === 'ended') {
      open = open.filter((one) => one !== call);
      continue;
    }
    if (transition.attempt !== call.dispatches + 1 || isPending(call)) {
      throw refuse(
        'INVALID_REQUEST',
        `Tool call ${transition.toolUseId} cannot be dispatched with attempt ${transition.attempt}.`,
      );
    }
    open = open.map((one) => (one === call ? { ...one, dispatches: transition.attempt } : one));
  }
  return open;
}

/** Whether the turn waits for an approval or an answer of the call. */
export function isPending({ approval, client }: OpenCall): boolean {
  return approval?.decision === null || client?.isAwaited === true;
}

const NOT_DISPATCHED = 'The turn ended before this tool was run.';
const NOT_ANSWERED = 'The turn ended before this call was answered.';
const OUTCOME_UNKNOWN = 'The turn ended while this tool was running; whether it took effect is unknown.';

/** The open calls of a turn that ends: their results, and the requests that are cancelled. */
interface ClosedCalls {
  drafts: EventDraft[];
  rows: { closedApprovals: ClosedApproval[]; closedClientCalls: ClosedClientCall[] };
}

/**
 * Gives every open call a result and cancels every pending approval and awaited answer of a turn that ends, also the approval
 * of the turn itself.
 */
export function closeOpenCalls(turn: TurnState, reason: string): ClosedCalls {
  const trace = { turnId: turn.turnId, traceparent: turn.traceparent ?? undefined };
  const drafts: EventDraft[] = [];
  const closedApprovals: ClosedApproval[] = [];
  const closedClientCalls: ClosedClientCall[] = [];
  const cancelApproval = ({ approvalId }: { approvalId: string }) => {
    // Calls that share an approval close it once.
    if (closedApprovals.some((one) => one.approvalId === approvalId)) return;
    const decided = { approval_id: approvalId, decision: 'cancelled', by: 'system', reason };
    drafts.push(draft('approval.decided', decided, SYSTEM_ACTOR, trace));
    closedApprovals.push({ approvalId, status: 'cancelled', reason });
  };
  if (turn.approval) cancelApproval(turn.approval);
  for (const { toolUseId, dispatches, approval, client } of turn.calls) {
    if (approval?.decision === null) cancelApproval(approval);
    if (client?.isAwaited) closedClientCalls.push({ eventId: client.eventId, status: 'cancelled' });
    const output = client?.isAwaited ? NOT_ANSWERED : dispatches > 0 ? OUTCOME_UNKNOWN : NOT_DISPATCHED;
    const result = { tool_use_id: toolUseId, output, is_error: true, duration_ms: 0 };
    drafts.push(draft('agent.tool_result', result, SYSTEM_ACTOR, trace));
  }
  return { drafts, rows: { closedApprovals, closedClientCalls } };
}
