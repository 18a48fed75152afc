import type { Ask } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import type { AuthorizationDetails, InputNeeded } from '../tool-calls/tool-call.ts';
import { prepareCall } from '../tools/prepare-call.ts';
import { callingTurn } from './calling-turn.ts';
import type { ToolCallDecision, ToolRun } from './tool-call-decision.ts';
import type { StepOptions } from './tool-call-options.ts';

/** How an open call continues after its tool was prepared. */
export type PreparedCall =
  | ToolCallDecision
  /** The turn is retried. `ask` is the request with which it blocks when its retries are spent. */
  | { kind: 'unavailable'; ask: Ask; run: ToolRun }
  /** The turn was stopped. */
  | { kind: 'stopped'; run: ToolRun };

/** Prepares the tool of a call that can run. Other decisions are returned unchanged. */
export async function prepareRun(
  turn: LeasedTurn,
  decision: ToolCallDecision,
  { clock, log, turns, environmentId, toolTimeoutSeconds: timeoutSeconds }: StepOptions,
): Promise<PreparedCall> {
  if (decision.kind !== 'run') return decision;
  const { run } = decision;
  const { tool, call, input, editedInput } = run;
  if (!tool.prepare) return decision;
  const { toolUseId } = call;
  const calling = callingTurn(turn, turn.span.trace, environmentId);
  const pending = { toolUseId, turn: calling, signal: turn.signal };
  const end = await prepareCall(tool, input, pending, { clock, timeoutSeconds });
  const fields = { ...turn.logFields, tool: call.name, tool_use_id: toolUseId };
  switch (end.kind) {
    case 'ready':
      return decision;
    case 'authorization_needed':
      return { kind: 'ask', ask: authorizationAsk(run, end.details), tool, run };
    case 'unavailable': {
      log.warn({ ...fields, err: end.cause }, 'a tool call cannot be prepared now; the turn will be retried');
      const named = tool.server ?? tool.serverOf?.(input);
      const server = named ?? { mcp_server_id: '', name: call.name, host: '' };
      const details = { ...server, reason: 'unavailable', who: 'administrator' } as const;
      return { kind: 'unavailable', ask: authorizationAsk(run, details), run };
    }
    case 'lost':
      turns.lose(turn);
      return { kind: 'stopped', run };
    case 'stopped':
      return { kind: 'stopped', run };
    case 'failed':
      log.error({ ...fields, err: end.exception }, 'preparing a tool call failed unexpectedly');
  }
  const result = { output: end.output, isError: true };
  return { kind: 'answer', result: editedInput === undefined ? result : { ...result, editedInput } };
}

/** The request for a credential that a call lacks. */
export function authorizationAsk(run: ToolRun, details: AuthorizationDetails): Ask {
  return { kind: 'authorization', ...requestedCall(run), detailsJson: JSON.stringify(details) };
}

/** The request for input that a call needs to continue. */
export function inputAsk(run: ToolRun, { details, state }: InputNeeded): Ask {
  return {
    kind: 'input',
    ...requestedCall(run),
    detailsJson: JSON.stringify(details),
    state: Buffer.from(state),
  };
}

/** The request for a decision about a call that may have taken effect. */
export function outcomeUnknownAsk(run: ToolRun): Ask {
  return {
    kind: 'outcome_unknown',
    ...requestedCall(run),
    edited: run.editedInput === undefined ? undefined : true,
  };
}

function requestedCall({ call, inputJson }: ToolRun) {
  return { toolUseId: call.toolUseId, toolName: call.name, inputJson };
}
