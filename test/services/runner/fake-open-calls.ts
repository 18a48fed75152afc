import { createHash } from 'node:crypto';
import type { Ask, CallDecision, OpenCall } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

/** Applies a tool event to the open calls. Throws for an event that the sessions service would reject. */
export function applyCallEvent(
  journal: { openCalls: OpenCall[] },
  fence: number,
  type: string,
  data: Record<string, unknown>,
): void {
  const toolUseId = String(data.tool_use_id);
  const call = journal.openCalls.find((one) => one.toolUseId === toolUseId);
  if (type === 'agent.tool_use') {
    if (call) throw new Error(`${toolUseId} is already open`);
    journal.openCalls.push({ toolUseId, dispatches: 0, decision: undefined });
  }
  if (type !== 'agent.tool_dispatched' && type !== 'agent.tool_result') return;
  if (!call) throw new Error(`${toolUseId} is not open`);
  if (type === 'agent.tool_result') journal.openCalls = journal.openCalls.filter((one) => one !== call);
  else if (data.attempt !== ++call.dispatches) throw new Error(`${toolUseId} was dispatched out of order`);
  else if (data.fence !== fence) throw new Error(`${toolUseId} was dispatched under another fence`);
}

/** Returns the call with its decision. Missing fields come from the request for approval, or are defaults. */
export function withDecision(
  call: OpenCall,
  ask: Ask | undefined,
  given: Partial<CallDecision> | undefined,
): OpenCall {
  if (!given) return call;
  const inputJson = given.inputJson ?? ask?.inputJson ?? '';
  const decision: CallDecision = {
    kind: ask?.kind ?? 'tool',
    decision: 'allow',
    reason: '',
    inputJson,
    inputSha256: createHash('sha256').update(inputJson).digest('hex'),
    edited: given.inputJson !== undefined,
    dispatches: call.dispatches,
    state: ask?.state,
    detailsJson: ask?.detailsJson,
    ...given,
  };
  return { ...call, decision, ...(decision.kind === 'input' && { answer: decision }) };
}
