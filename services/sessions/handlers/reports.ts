import type { Clock } from '../../../lib/clock.ts';
import { sha256 } from '../../../lib/digest.ts';
import { refuse } from '../../../lib/errors.ts';
import { CLIENT_CALL_KINDS } from '../../../lib/event-types.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { TurnBlocked, TurnReport } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { AnswerRequest, ApprovalRequest } from '../domain/block.ts';
import type { Report, TurnOutcome } from '../domain/run.ts';
import { NO_USAGE } from '../domain/state.ts';
import type { ToolCallTransition } from '../domain/tool-calls.ts';
import { parseSingleLineJson, requireSingleLineJson } from './json.ts';

interface ReportContext {
  clock: Clock;
  ids: Ids;
  approvalTtlMs: number;
}

const STOP_REASONS = ['end_turn', 'budget_reached', 'max_steps_reached', 'refused'] as const;
const APPROVAL_KINDS = ['tool', 'outcome_unknown'] as const;
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
  return {
    turnId: sent.turnId,
    fence: sent.fence,
    reportSeq: sent.reportSeq,
    events,
    calls,
    openMessageId: sent.openMessageId,
    usage: sent.usage ?? NO_USAGE,
    outcome: outcomeOf(sent, context),
  };
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
    case 'retry':
      return { kind: 'retry', error: kind.value.error ?? UNKNOWN_ERROR, delayMs: kind.value.delayMs };
    case 'blocked':
      return blockedOf(kind.value, context);
  }
}

function blockedOf({ asks }: TurnBlocked, { clock, ids, approvalTtlMs }: ReportContext): TurnOutcome {
  const approvals: ApprovalRequest[] = [];
  const answers: AnswerRequest[] = [];
  for (const { kind: name, toolUseId, toolName, inputJson, edited = false } of asks) {
    requireSingleLineJson(inputJson, 'input of the tool call');
    const requested = { toolUseId, toolName, inputJson };
    const approvalKind = APPROVAL_KINDS.find((one) => one === name);
    const clientKind = CLIENT_CALL_KINDS.find((one) => one === name);
    if (clientKind) answers.push({ ...requested, kind: clientKind, isEdited: edited });
    else if (approvalKind)
      approvals.push({
        ...requested,
        kind: approvalKind,
        inputSha256: sha256(inputJson),
        approvalId: ids('apr'),
        eventId: ids('evt'),
      });
    else throw refuse('INVALID_REQUEST', `Unknown kind \`${name}\` of a request.`);
  }
  const expiresAt = new Date(clock.now().getTime() + approvalTtlMs);
  return { kind: 'blocked', requests: { approvals, answers }, expiresAt };
}
