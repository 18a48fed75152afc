import { type Clock, wait } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { Tracer } from '../../../lib/telemetry/tracer.ts';
import type { Trace } from '../../../lib/trace.ts';
import type { Ask, OpenCall } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { LeasedTurn, LeasedTurns } from '../queue/leased-turns.ts';
import type { Reporter } from '../queue/reporter.ts';
import type { CallingTurn } from '../tool-calls/tool-call.ts';
import { isClientTool } from '../tools/client-tool.ts';
import { effectNote, runTool, type ToolEnd } from '../tools/run-tool.ts';
import { ToolCallOrder } from '../tools/tool-call-order.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import { type RunnerMetrics, toolOutcome } from './metrics.ts';
import { type ModelStep, openCalls, type ToolCall, type ToolCallResult } from './model-step.ts';
import { beginToolSpan, endToolSpan } from './spans.ts';
import { decideToolCall, NOT_DISPATCHED, type ToolRun } from './tool-call-decision.ts';

/** How long a failing step waits for aborted tools that ignore their signal. */
const STOP_LIMIT_MS = 10_000;

export interface ToolCallOptions {
  clock: Clock;
  log: Log;
  tracer: Tracer;
  metrics: RunnerMetrics;
  turns: Pick<LeasedTurns, 'lose'>;
  reporter: Pick<Reporter, 'reportNow' | 'commit'>;
  toolTimeoutSeconds: number;
}

/** The settings of the agent that tool calls need. */
interface ToolCallRuntime {
  toolbox: Toolbox;
  environmentId: string;
}

interface StepContext extends ToolCallOptions {
  environmentId: string;
  /** Aborts when the turn stops or when a sibling call throws. */
  signal: AbortSignal;
  /** One promise for each tool that was started; it resolves when the tool has ended. */
  started: Promise<unknown>[];
}

/**
 * Runs the open calls of a step and returns the approvals and answers that are needed before the turn can go on. A call that has
 * neither a result nor a request afterwards was stopped with its turn, or was not started because it has to wait for
 * a call that needs approval.
 *
 * Rejects when a call throws, after the other calls were aborted and have ended.
 */
export async function runToolCalls(
  turn: LeasedTurn,
  step: ModelStep,
  { toolbox, environmentId }: ToolCallRuntime,
  options: ToolCallOptions,
): Promise<Ask[]> {
  const now = () => options.clock.now().getTime();
  const asks: Ask[] = [];
  const runs: ToolRun[] = [];
  const order = new ToolCallOrder();
  for (const call of openCalls(step)) {
    const decision = await decideToolCall(call, earlierAttempts(turn, call), toolbox);
    if (decision.kind === 'answer') {
      options.metrics.toolCall(toolbox.find(call.name) && call.name, 'not_run');
      recordResult(turn, step, call, decision.result, 0, now());
    } else if (decision.kind === 'ask') {
      asks.push(decision.ask);
      if (isClientTool(decision.tool)) turn.outbox.addUsage({ toolCalls: 1 });
      else order.defer(decision.tool);
    } else if (order.mustWait(decision.run.tool)) order.defer(decision.run.tool);
    else runs.push(decision.run);
  }
  if (runs.length === 0) return asks;
  const failed = new AbortController();
  const signal = AbortSignal.any([turn.signal, failed.signal]);
  const context: StepContext = { ...options, environmentId, signal, started: [] };
  const ends = await Promise.allSettled(
    runs.map(async (run) => {
      try {
        await order.run(run.tool, () => runToolCall(turn, step, run, context));
      } catch (error) {
        failed.abort();
        throw error;
      }
    }),
  );
  const failure = ends.find((end) => end.status === 'rejected');
  if (!failure) return asks;
  await waitUntilStopped(context.started, turn.signal, options.clock);
  throw failure.reason;
}

/** Resolves when all started tools have ended, after STOP_LIMIT_MS, or when the turn is stopped. */
async function waitUntilStopped(
  started: Promise<unknown>[],
  turnSignal: AbortSignal,
  clock: Clock,
): Promise<void> {
  const allEnded = new AbortController();
  void Promise.allSettled(started).then(() => allEnded.abort());
  await wait(clock, STOP_LIMIT_MS, AbortSignal.any([allEnded.signal, turnSignal]));
}

function callingTurn({ claimed }: LeasedTurn, trace: Trace, environmentId: string): CallingTurn {
  const { sessionId, turnId, fence, agentId, ownerId } = claimed;
  return { lease: { sessionId, turnId, fence }, agentId, ownerId, environmentId, trace };
}

/** Returns the dispatches and the decision that earlier attempts of the turn have recorded for a call. */
function earlierAttempts(
  { claimed }: LeasedTurn,
  { toolUseId }: ToolCall,
): Pick<OpenCall, 'dispatches' | 'decision'> {
  return claimed.openCalls.find((open) => open.toolUseId === toolUseId) ?? NOT_DISPATCHED;
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

async function runToolCall(
  turn: LeasedTurn,
  step: ModelStep,
  run: ToolRun,
  context: StepContext,
): Promise<void> {
  if (!(await commitDispatch(turn, run, context))) return;
  const { call, tool, input, attempt, editedInput } = run;
  const { clock, tracer, toolTimeoutSeconds: timeoutSeconds, reporter, signal, started } = context;
  const wasStopped = turn.stopCause !== undefined;
  const startedAt = clock.now().getTime();
  const span = beginToolSpan(tracer, turn, call, attempt);
  const progress = (text: string) => {
    if (turn.outbox.addProgress(call.toolUseId, text, clock.now().getTime())) reporter.reportNow(turn);
  };
  const calling = callingTurn(turn, span.trace, context.environmentId);
  const toolCall = { toolUseId: call.toolUseId, attempt, turn: calling, signal, progress };
  const onStart = (execution: Promise<unknown>) => void started.push(execution);
  const end = await runTool(tool, input, toolCall, { clock, timeoutSeconds, onStart });
  endToolSpan(span, end);
  context.metrics.toolCall(call.name, toolOutcome(end));
  if (end.kind === 'lost') context.turns.lose(turn);
  if (end.kind === 'failed' && end.exception !== undefined) {
    const fields = { ...turn.logFields, tool: call.name, tool_use_id: call.toolUseId, attempt };
    context.log.error({ ...fields, err: end.exception }, 'a tool call failed unexpectedly');
  }
  if (turn.stopCause === 'lost') return;
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

function recordResult(
  turn: LeasedTurn,
  step: ModelStep,
  { toolUseId }: ToolCall,
  result: ToolCallResult,
  durationMs: number,
  now: number,
): void {
  const { output, isError, editedInput, workspaceVersion, exitCode, stderrRanges } = result;
  turn.outbox.addResult(
    {
      tool_use_id: toolUseId,
      output,
      is_error: isError,
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
