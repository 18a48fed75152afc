import type { Clock } from '../../../lib/clock.ts';
import { sha256 } from '../../../lib/digest.ts';
import { refuse } from '../../../lib/errors.ts';
import type { ApprovalDetails } from '../../../lib/event-parts.ts';
import { APPROVAL_KINDS, type ApprovalKind, CLIENT_CALL_KINDS } from '../../../lib/event-types.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Ask, TurnBlocked, TurnReport } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { AnswerRequest, ApprovalRequest } from '../domain/block.ts';
import type { Report, TurnBlock, TurnOutcome } from '../domain/run.ts';
import { NO_USAGE, type OpenModelRequest } from '../domain/state.ts';
import type { ToolCallTransition } from '../domain/tool-calls.ts';
import type { StateSealer } from '../state-sealer.ts';
import { parseSingleLineJson, requireSingleLineJson } from './json.ts';

interface ReportContext {
  clock: Clock;
  ids: Ids;
  approvalTtlMs: number;
  stateSealer: StateSealer;
}

const STOP_REASONS = ['end_turn', 'budget_reached', 'max_steps_reached', 'refused'] as const;
/** Limit of the details and of the state of a request. */
const MAX_REQUEST_BYTES = 64 * 1024;
const UNKNOWN_ERROR = { code: 'unknown', message: 'The turn ended without an error.' };

/** Converts a runner's report for the domain. Refuses invalid events and outcomes with INVALID_REQUEST. */
export function parseReport(sent: TurnReport, context: ReportContext): Report {
  const calls: ToolCallTransition[] = [];
  const events = sent.events.map(({ type, dataJson }) => {
    const data = parseSingleLineJson(dataJson, `data of ${type}`);
    const transition = toolCallTransition(type, data, context.ids);
    if (transition) calls.push(transition);
    const eventId = transition?.kind === 'used' ? transition.client?.eventId : undefined;
    return { type, dataJson, eventId };
  });
  const toolsOffered = sent.events.findLast(({ type }) => type === 'agent.tools_offered');
  return {
    turnId: sent.turnId,
    fence: sent.fence,
    reportSeq: sent.reportSeq,
    events,
    calls,
    toolsOfferedSha256: toolsOffered && sha256(toolsOffered.dataJson),
    context: sent.context,
    openMessageId: sent.openMessageId,
    usage: sent.usage ?? NO_USAGE,
    openModelRequest: openModelRequestOf(sent),
    outcome: outcomeOf(sent, context),
  };
}

function openModelRequestOf({ openModelRequest: open }: TurnReport): OpenModelRequest | null {
  if (!open?.startedAt) return null;
  return { model: open.model, startedAt: open.startedAt, usage: open.usage ?? NO_USAGE };
}

/** The transition of a tool call that an event describes. Undefined for other events. */
function toolCallTransition(type: string, data: unknown, ids: Ids): ToolCallTransition | undefined {
  switch (type) {
    case 'agent.tool_use': {
      const { name, kind } = data as { name: unknown; kind?: unknown };
      const clientKind = CLIENT_CALL_KINDS.find((one) => one === kind);
      const client = clientKind && { kind: clientKind, eventId: ids('evt') };
      return { kind: 'used', toolUseId: toolUseId(data), name: String(name), client };
    }
    case 'agent.tool_dispatched':
      return {
        kind: 'dispatched',
        toolUseId: toolUseId(data),
        attempt: Number((data as { attempt: unknown }).attempt),
      };
    case 'agent.tool_result':
      return { kind: 'ended', toolUseId: toolUseId(data) };
    default:
      return undefined;
  }
}

function toolUseId(data: unknown): string {
  const { tool_use_id: id } = data as { tool_use_id: unknown };
  if (typeof id !== 'string') throw refuse('INVALID_REQUEST', 'tool_use_id must be a string.');
  return id;
}

function outcomeOf({ outcome }: TurnReport, context: ReportContext): TurnOutcome | undefined {
  const kind = outcome?.kind;
  switch (kind?.$case) {
    case undefined:
      return undefined;
    case 'completed': {
      const stopReason = STOP_REASONS.find((one) => one === kind.value.stopReason);
      if (!stopReason) throw refuse('INVALID_REQUEST', `Unknown stop reason \`${kind.value.stopReason}\`.`);
      const { outputJson } = kind.value;
      if (outputJson !== undefined) requireSingleLineJson(outputJson, 'output of the turn');
      return { kind: 'completed', stopReason, outputJson };
    }
    case 'failed':
      return { kind: 'failed', error: kind.value.error ?? UNKNOWN_ERROR };
    case 'retry': {
      const { error = UNKNOWN_ERROR, delayMs, whenExhausted, fallbackModel } = kind.value;
      return {
        kind: 'retry',
        error,
        delayMs,
        whenExhausted: whenExhausted && blockOf(whenExhausted, context),
        fallbackModel,
      };
    }
    case 'blocked':
      return { kind: 'blocked', ...blockOf(kind.value, context) };
  }
}

function blockOf({ asks }: TurnBlocked, context: ReportContext): TurnBlock {
  const approvals: ApprovalRequest[] = [];
  const answers: AnswerRequest[] = [];
  for (const ask of asks) {
    const { kind: name, toolUseId, toolName, inputJson, edited = false } = ask;
    // An authorization of the turn itself has no input.
    if (toolUseId !== '' || name !== 'authorization')
      requireSingleLineJson(inputJson, 'input of the tool call');
    const requested = { toolUseId, toolName, inputJson };
    const approvalKind = APPROVAL_KINDS.find((one) => one === name);
    const clientKind = CLIENT_CALL_KINDS.find((one) => one === name);
    if (clientKind && ask.detailsJson === undefined) {
      answers.push({ ...requested, kind: clientKind, isEdited: edited });
    } else if (approvalKind) addApproval(approvals, approvalRequest(ask, approvalKind, context));
    else throw refuse('INVALID_REQUEST', `Unknown kind \`${name}\` of a request.`);
  }
  const expiresAt = new Date(context.clock.now().getTime() + context.approvalTtlMs);
  return { requests: { approvals, answers }, expiresAt };
}

/** Requests of kind `authorization` for the same server become one approval. */
function addApproval(approvals: ApprovalRequest[], request: ApprovalRequest): void {
  const { kind, mcpServerId } = request;
  const isShareable = kind === 'authorization' && mcpServerId !== undefined;
  const index = approvals.findIndex((one) => isShareable && one.mcpServerId === mcpServerId);
  const shared = approvals[index];
  if (shared) approvals[index] = { ...shared, alsoFor: [...(shared.alsoFor ?? []), request.toolUseId] };
  else approvals.push(request);
}

function approvalRequest(
  { toolUseId, toolName, inputJson, detailsJson, state }: Ask,
  kind: ApprovalKind,
  { ids, stateSealer }: ReportContext,
): ApprovalRequest {
  const approvalId = ids('apr');
  const inputSha256 = toolUseId === '' ? '' : sha256(inputJson);
  const requested = { toolUseId, toolName, inputJson, inputSha256 };
  const request: ApprovalRequest = { ...requested, kind, approvalId, eventId: ids('evt') };
  if (kind === 'tool' || kind === 'outcome_unknown') return request;
  const details = parseDetails(detailsJson ?? '');
  if (kind === 'authorization') {
    const { mcp_server_id: mcpServerId } = details;
    return { ...request, detailsJson, mcpServerId };
  }
  if (state === undefined || state.length > MAX_REQUEST_BYTES)
    throw refuse('INVALID_REQUEST', `The state of an input must have at most ${MAX_REQUEST_BYTES} bytes.`);
  return { ...request, detailsJson, sealedState: stateSealer.seal(state, approvalId) };
}

function parseDetails(detailsJson: string): Partial<ApprovalDetails> {
  const details = parseSingleLineJson(detailsJson, 'details of the request');
  if (typeof details !== 'object' || details === null || Array.isArray(details))
    throw refuse('INVALID_REQUEST', 'The details of a request must be a JSON object.');
  if (Buffer.byteLength(detailsJson) > MAX_REQUEST_BYTES)
    throw refuse('INVALID_REQUEST', `The details of a request must have at most ${MAX_REQUEST_BYTES} bytes.`);
  return details;
}
