import type { Clock } from '../../lib/clock.ts';
import type { Tracer } from '../../lib/telemetry/tracer.ts';
import type { Trace } from '../../lib/trace.ts';
import type { Ask, OpenCall } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Held, HeldTurn } from './held.ts';
import { FRESH, planOf, type Run } from './plan.ts';
import type { Reporter } from './reporter.ts';
import { beginTool, endTool } from './spans.ts';
import { type Call, type CallResult, openCalls, type Step } from './step.ts';
import { CallOrder } from './tools/order.ts';
import { EFFECT_UNKNOWN, runTool, type ToolEnd } from './tools/run.ts';
import type { CallingTurn } from './tools/tool.ts';
import type { Toolbox } from './tools/toolbox.ts';

export interface CallsOptions {
  clock: Clock;
  tracer: Tracer;
  held: Pick<Held, 'lose'>;
  reporter: Pick<Reporter, 'hurry' | 'commit'>;
  toolTimeoutSeconds: number;
}

/** What the calls of a turn need of its agent. */
export interface CallingRuntime {
  toolbox: Toolbox;
  environmentId: string;
}

type Surroundings = CallsOptions & Pick<CallingRuntime, 'environmentId'>;

/**
 * Carries out the calls of a step that have no result yet, as far as they may run and need not wait for one that may
 * not; then it is known what somebody has to be asked. A call without a result and without a question was stopped with
 * its turn, or waits behind a question: it was not begun.
 */
export async function carryOut(
  turn: HeldTurn,
  step: Step,
  runtime: CallingRuntime,
  options: CallsOptions,
): Promise<Ask[]> {
  const { toolbox, environmentId } = runtime;
  const asks: Ask[] = [];
  const runs: Run[] = [];
  const order = new CallOrder();
  for (const call of openCalls(step)) {
    const plan = planOf(call, knownOf(turn, call), toolbox);
    if (plan.kind === 'answer') settle(turn, step, call, plan.result, 0);
    else if (plan.kind === 'ask') {
      asks.push(plan.ask);
      order.hold(plan.tool);
    } else if (order.isHeld(plan.run.tool)) order.hold(plan.run.tool);
    else runs.push(plan.run);
  }
  const surroundings = { ...options, environmentId };
  const inTurn = (run: Run) => order.take(run.tool, () => carryOutOne(turn, step, run, surroundings));
  await Promise.all(runs.map(inTurn));
  return asks;
}

function callingTurn({ claimed }: HeldTurn, trace: Trace, environmentId: string): CallingTurn {
  const { sessionId, turnId, fence, agentId, ownerId } = claimed;
  return { lease: { sessionId, turnId, fence }, agentId, ownerId, environmentId, trace };
}

/** What earlier attempts have done about a call; of one of this attempt, nothing. */
function knownOf({ claimed }: HeldTurn, { toolUseId }: Call): Pick<OpenCall, 'dispatches' | 'decision'> {
  return claimed.openCalls.find((open) => open.toolUseId === toolUseId) ?? FRESH;
}

/**
 * No tool is touched before it is in the journal that it will be, under a lease that still holds; nor is that said of
 * a call before its turn has come. Those that begin together are told of together.
 */
async function dispatch(
  turn: HeldTurn,
  { call, attempt }: Run,
  { reporter }: Surroundings,
): Promise<boolean> {
  if (turn.stopped) return false;
  const { outbox, claimed } = turn;
  outbox.add('agent.tool_dispatched', { tool_use_id: call.toolUseId, attempt, fence: claimed.fence });
  if (attempt === 1) outbox.count({ toolCalls: 1 });
  return await reporter.commit(turn);
}

async function carryOutOne(turn: HeldTurn, step: Step, run: Run, options: Surroundings): Promise<void> {
  if (!(await dispatch(turn, run, options))) return;
  const { call, tool, input, attempt, editedInput } = run;
  const { clock, tracer, toolTimeoutSeconds, reporter } = options;
  const wasStopped = turn.stopped !== undefined;
  const startedAt = clock.now().getTime();
  const span = beginTool(tracer, turn, call, attempt);
  const progress = (text: string) => {
    if (turn.outbox.progress(call.toolUseId, text, clock.now().getTime())) reporter.hurry(turn);
  };
  const calling = callingTurn(turn, span.trace, options.environmentId);
  const told = { toolUseId: call.toolUseId, attempt, turn: calling, signal: turn.signal, progress };
  const end = await runTool(tool, input, told, { clock, timeoutSeconds: toolTimeoutSeconds });
  endTool(span, end);
  if (end.kind === 'lost') options.held.lose(turn);
  if (turn.stopped === 'lost') return;
  const result = resultOf(end, run, turn, wasStopped);
  if (!result) return;
  const durationMs = Math.max(0, clock.now().getTime() - startedAt);
  settle(turn, step, call, editedInput === undefined ? result : { ...result, editedInput }, durationMs);
  reporter.hurry(turn);
}

/**
 * Undefined for a call that the next runner takes up: what it did until this one was stopped is not known. One that
 * was stopped before it had begun is told as such, so that nobody has to be asked about it.
 */
function resultOf(end: ToolEnd, { tool }: Run, turn: HeldTurn, wasStopped: boolean): CallResult | undefined {
  if (end.kind === 'done') {
    const { output, isError, workspaceVersion } = end;
    return { output, isError, ...(workspaceVersion !== undefined && { workspaceVersion }) };
  }
  if (end.kind === 'failed') return { output: end.output, isError: true };
  const isHarmless = turn.stopped === 'stopping' && tool.kind.effect !== 'once';
  if (wasStopped && !isHarmless)
    return { output: `${causeOf(turn)} before this tool was run.`, isError: true };
  if (turn.stopped !== 'budget') return undefined;
  const unknown = tool.kind.effect === 'read' ? '' : ` ${EFFECT_UNKNOWN}`;
  return { output: `${causeOf(turn)} while this tool was running.${unknown}`, isError: true };
}

function causeOf({ stopped }: HeldTurn): string {
  return stopped === 'budget' ? 'The time of the turn was up' : 'The service was stopped';
}

function settle(
  turn: HeldTurn,
  step: Step,
  { toolUseId }: Call,
  result: CallResult,
  durationMs: number,
): void {
  step.results.set(toolUseId, result);
  const { output, isError, editedInput, workspaceVersion } = result;
  turn.outbox.result({
    tool_use_id: toolUseId,
    output,
    is_error: isError,
    duration_ms: durationMs,
    edited_input: editedInput,
    workspace_version: workspaceVersion,
  });
}
