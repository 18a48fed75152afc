import type { Ask } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import { effectNote, runTool, type ToolEnd } from '../tools/run-tool.ts';
import { callingTurn } from './calling-turn.ts';
import { toolOutcome } from './metrics.ts';
import type { ModelStep, ToolCall, ToolCallResult } from './model-step.ts';
import { authorizationAsk, inputAsk, outcomeUnknownAsk } from './prepare-run.ts';
import { beginToolSpan, endToolSpan } from './spans.ts';
import type { ToolRun } from './tool-call-decision.ts';
import type { StepOptions } from './tool-call-options.ts';

export interface StepContext extends StepOptions {
  /** Aborts when the turn stops or when a sibling call throws. */
  signal: AbortSignal;
  /** One promise for each tool that was started; it resolves when the tool has ended. */
  started: Promise<unknown>[];
  /** The requests of the calls, by tool use id. */
  asks: Map<string, Ask>;
}

/**
 * Journals the dispatch and resolves with whether the tool may run. A tool runs only after its dispatch is committed
 * under a valid lease. Calls that start together share a report.
 */
async function commitDispatch(
  turn: LeasedTurn,
  { call, attempt }: ToolRun,
  { reporter, signal }: StepContext,
): Promise<boolean> {
  if (signal.aborted) return false;
  const { outbox, claimed } = turn;
  outbox.add('agent.tool_dispatched', { tool_use_id: call.toolUseId, attempt, fence: claimed.fence });
  if (attempt === 1) outbox.addUsage({ toolCalls: 1 });
  return await reporter.commit(turn);
}

/** Dispatches a call and runs its tool. Records the result, or what the call needs before it can end. */
export async function runToolCall(
  turn: LeasedTurn,
  step: ModelStep,
  run: ToolRun,
  context: StepContext,
): Promise<void> {
  if (!(await commitDispatch(turn, run, context))) return;
  const { call, tool, input, attempt, editedInput, answer } = run;
  const { clock, tracer, toolTimeoutSeconds: timeoutSeconds, reporter, signal, started } = context;
  const wasStopped = turn.stopCause !== undefined;
  const startedAt = clock.now().getTime();
  const span = beginToolSpan(tracer, turn, call, attempt);
  const progress = (text: string) => {
    if (turn.outbox.addProgress(call.toolUseId, text, clock.now().getTime())) reporter.reportNow(turn);
  };
  const calling = callingTurn(turn, span.trace, context.environmentId);
  const toolCall = { toolUseId: call.toolUseId, attempt, answer, turn: calling, signal, progress };
  const onStart = (execution: Promise<unknown>) => void started.push(execution);
  const end = await runTool(tool, input, toolCall, { clock, timeoutSeconds, onStart });
  endToolSpan(span, end);
  const outcome = toolOutcome(end);
  if (outcome) context.metrics.toolCall(call.name, outcome);
  if (end.kind === 'lost') context.turns.lose(turn);
  if (end.kind === 'failed' && end.exception !== undefined) {
    const fields = { ...turn.logFields, tool: call.name, tool_use_id: call.toolUseId, attempt };
    context.log.error({ ...fields, err: end.exception }, 'a tool call failed unexpectedly');
  }
  if (turn.stopCause === 'lost') return;
  if (end.kind === 'input_needed') context.asks.set(call.toolUseId, inputAsk(run, end.needed));
  if (end.kind === 'authorization_needed')
    context.asks.set(call.toolUseId, authorizationAsk(run, end.details));
  if (end.kind === 'outcome_unknown') {
    const fields = { ...turn.logFields, tool: call.name, tool_use_id: call.toolUseId, attempt };
    context.log.warn({ ...fields, err: end.cause }, 'the outcome of a tool call is unknown');
    context.asks.set(call.toolUseId, outcomeUnknownAsk(run));
  }
  if (context.asks.has(call.toolUseId)) return;
  const result = resultOf(end, run, turn, wasStopped);
  if (!result) return;
  const endedAt = clock.now().getTime();
  const durationMs = Math.max(0, endedAt - startedAt);
  const recorded = editedInput === undefined ? result : { ...result, editedInput };
  recordResult(turn, step, call, recorded, durationMs, endedAt);
  reporter.reportNow(turn);
}

/**
 * Returns undefined for a call that the next attempt of the turn continues: its effect up to the stop is unknown. A
 * call that was stopped before it began gets a result that says so, so that no approval is needed to repeat it.
 */
function resultOf(
  end: ToolEnd,
  { tool }: ToolRun,
  turn: LeasedTurn,
  wasStopped: boolean,
): ToolCallResult | undefined {
  if (end.kind === 'done') {
    const { kind: _, ...result } = end;
    return result;
  }
  if (end.kind === 'failed') return { output: end.output, isError: true };
  const isRepeatable = turn.stopCause === 'stopping' && tool.kind.effect !== 'once';
  if (wasStopped && !isRepeatable)
    return { output: `${stopText(turn)} before this tool was run.`, isError: true };
  if (turn.stopCause !== 'budget') return undefined;
  const note = effectNote(tool.kind.effect);
  return { output: `${stopText(turn)} while this tool was running.${note}`, isError: true };
}

function stopText({ stopCause }: LeasedTurn): string {
  return stopCause === 'budget' ? 'The time limit of the turn was reached' : 'The service was stopped';
}

export function recordResult(
  turn: LeasedTurn,
  step: ModelStep,
  { toolUseId }: ToolCall,
  result: ToolCallResult,
  durationMs: number,
  now: number,
): void {
  const { output, isError, mcpServer, editedInput, workspaceVersion, exitCode, stderrRanges } = result;
  turn.outbox.addResult(
    {
      tool_use_id: toolUseId,
      output,
      is_error: isError,
      mcp_server: mcpServer,
      duration_ms: durationMs,
      edited_input: editedInput,
      workspace_version: workspaceVersion,
      exit_code: exitCode,
      stderr_ranges: stderrRanges?.length ? [...stderrRanges] : undefined,
    },
    now,
  );
  step.results.set(toolUseId, result);
}
