import { refuse } from '../../../lib/errors.ts';
import { SYSTEM } from './begin.ts';
import { type Draft, draft, type SettledApproval } from './change.ts';
import type { OpenCall, TurnState } from './state.ts';

/** What a report says of one tool call. */
export type CallStep =
  | { kind: 'used'; toolUseId: string; name: string }
  | { kind: 'dispatched'; toolUseId: string; attempt: number }
  | { kind: 'ended'; toolUseId: string };

/**
 * The open calls after a report. A call is dispatched once more only by somebody who knows how often it was
 * before, and never while somebody is being asked about it.
 */
export function carryOn(calls: readonly OpenCall[], steps: readonly CallStep[]): readonly OpenCall[] {
  let open = calls;
  for (const step of steps) {
    const call = open.find(({ toolUseId }) => toolUseId === step.toolUseId);
    if (step.kind === 'used') {
      if (call) throw refuse('INVALID_REQUEST', `the tool call ${step.toolUseId} is open already`);
      open = [...open, { toolUseId: step.toolUseId, name: step.name, dispatches: 0, approval: null }];
      continue;
    }
    if (!call) throw refuse('INVALID_REQUEST', `there is no open tool call ${step.toolUseId}`);
    if (step.kind === 'ended') {
      open = open.filter((one) => one !== call);
      continue;
    }
    if (step.attempt !== call.dispatches + 1 || call.approval?.decision === null) {
      throw refuse('INVALID_REQUEST', `the tool call ${step.toolUseId} cannot be dispatched now`);
    }
    open = open.map((one) => (one === call ? { ...one, dispatches: step.attempt } : one));
  }
  return open;
}

const BEFORE = 'The turn ended before this tool was run.';
const MEANWHILE = 'The turn ended while this tool was running; whether it took effect is unknown.';

/** A turn that ends leaves no call without a result and no question without an answer. */
export function closeCalls(turn: TurnState, reason: string): { drafts: Draft[]; settled: SettledApproval[] } {
  const place = { turnId: turn.turnId, traceparent: turn.traceparent ?? undefined };
  const drafts: Draft[] = [];
  const settled: SettledApproval[] = [];
  for (const { toolUseId, dispatches, approval } of turn.calls) {
    if (approval?.decision === null) {
      const { approvalId } = approval;
      const decided = { approval_id: approvalId, decision: 'cancelled', by: 'system', reason };
      drafts.push(draft('approval.decided', decided, SYSTEM, place));
      settled.push({ approvalId, status: 'cancelled', reason });
    }
    const output = dispatches > 0 ? MEANWHILE : BEFORE;
    const result = { tool_use_id: toolUseId, output, is_error: true, duration_ms: 0 };
    drafts.push(draft('agent.tool_result', result, SYSTEM, place));
  }
  return { drafts, settled };
}
