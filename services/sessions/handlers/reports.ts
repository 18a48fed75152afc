import type { Clock } from '../../../lib/clock.ts';
import { sha256 } from '../../../lib/digest.ts';
import { refuse } from '../../../lib/errors.ts';
import type { Ids } from '../../../lib/ids.ts';
import type {
  Ask as AskMessage,
  TurnBlocked,
  TurnReport,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Ask } from '../domain/ask.ts';
import type { CallStep } from '../domain/calls.ts';
import type { Outcome, Report } from '../domain/run.ts';
import { NO_USAGE } from '../domain/state.ts';
import { oneLine, parseLine } from './json.ts';

export interface ReportReader {
  clock: Clock;
  ids: Ids;
  approvalTtlMs: number;
}

const STOP_REASONS = ['end_turn', 'budget_reached', 'max_steps_reached', 'refused'] as const;
const APPROVAL_KINDS = ['tool', 'outcome_unknown'] as const;
const UNKNOWN = { code: 'unknown', message: 'the turn ended without a reason' };

/** A runner's report as the domain knows it; whatever it must not say is refused here. */
export function reportOf(sent: TurnReport, reader: ReportReader): Report {
  const calls: CallStep[] = [];
  const events = sent.events.map(({ type, dataJson }) => {
    const data = parseLine(dataJson, `the data of ${type}`);
    const step = callStepOf(type, data);
    if (step) calls.push(step);
    return { type, dataJson };
  });
  return {
    turnId: sent.turnId,
    fence: sent.fence,
    reportSeq: sent.reportSeq,
    events,
    calls,
    openMessageId: sent.openMessageId,
    usage: sent.usage ?? NO_USAGE,
    outcome: outcomeOf(sent, reader),
  };
}

/** What an event says of a tool call, for those that do. */
function callStepOf(type: string, data: unknown): CallStep | undefined {
  switch (type) {
    case 'agent.tool_use':
      return { kind: 'used', toolUseId: toolUseOf(data), name: String((data as { name: unknown }).name) };
    case 'agent.tool_dispatched':
      return {
        kind: 'dispatched',
        toolUseId: toolUseOf(data),
        attempt: Number((data as { attempt: unknown }).attempt),
      };
    case 'agent.tool_result':
      return { kind: 'ended', toolUseId: toolUseOf(data) };
    default:
      return undefined;
  }
}

function toolUseOf(data: unknown): string {
  const { tool_use_id: toolUseId } = data as { tool_use_id: unknown };
  if (typeof toolUseId !== 'string') throw refuse('INVALID_REQUEST', 'an event names no tool call');
  return toolUseId;
}

function outcomeOf({ outcome }: TurnReport, reader: ReportReader): Outcome | undefined {
  const kind = outcome?.kind;
  switch (kind?.$case) {
    case undefined:
      return undefined;
    case 'completed': {
      const stopReason = STOP_REASONS.find((one) => one === kind.value.stopReason);
      if (!stopReason) throw refuse('INVALID_REQUEST', `a turn cannot end with ${kind.value.stopReason}`);
      return { kind: 'completed', stopReason };
    }
    case 'failed':
      return { kind: 'failed', error: kind.value.error ?? UNKNOWN };
    case 'retry':
      return { kind: 'retry', error: kind.value.error ?? UNKNOWN, delayMs: kind.value.delayMs };
    case 'blocked':
      return blockedOf(kind.value, reader);
  }
}

function blockedOf({ asks }: TurnBlocked, { clock, ids, approvalTtlMs }: ReportReader): Outcome {
  const askOf = ({ kind: named, toolUseId, toolName, inputJson }: AskMessage): Ask => {
    const kind = APPROVAL_KINDS.find((one) => one === named);
    if (!kind) throw refuse('INVALID_REQUEST', `there is no approval of kind ${named}`);
    oneLine(inputJson, 'the input of a tool call');
    const made = { approvalId: ids('apr'), eventId: ids('evt') };
    return { kind, toolUseId, toolName, inputJson, inputSha256: sha256(inputJson), ...made };
  };
  const expiresAt = new Date(clock.now().getTime() + approvalTtlMs);
  return { kind: 'blocked', asks: asks.map(askOf), expiresAt };
}
