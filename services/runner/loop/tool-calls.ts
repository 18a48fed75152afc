import { type Clock, wait } from '../../../lib/clock.ts';
import type { Ask } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import { isClientTool } from '../tools/client-tool.ts';
import { ToolCallOrder } from '../tools/tool-call-order.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import { type ModelStep, openCalls, type ToolCall } from './model-step.ts';
import { type PreparedCall, prepareRun } from './prepare-run.ts';
import { recordResult, runToolCall, type StepContext } from './run-tool-call.ts';
import {
  type CallRecord,
  decideToolCall,
  NOT_DISPATCHED,
  type ToolCallDecision,
  type ToolRun,
} from './tool-call-decision.ts';
import type { StepOptions, ToolCallOptions } from './tool-call-options.ts';

/** How long a failing step waits for aborted tools that ignore their signal. */
const STOP_LIMIT_MS = 10_000;

/** The settings of the agent that tool calls need. */
interface ToolCallRuntime {
  toolbox: Toolbox;
  environmentId: string;
}

/** The approvals and answers that a turn needs after the calls of a step. */
export interface RequestedActions {
  /** The approvals and answers, in the order of the calls. */
  asks: Ask[];
  /** Set when calls could not be prepared: the turn is retried, and blocks with these requests when its retries are spent. */
  whenExhausted: Ask[];
  /** The credential of an open call was provided while other calls ran: the calls of the step are run once more. */
  hasReadyCalls: boolean;
}

/**
 * Runs the open calls of a step and returns the approvals and answers that the turn needs before it goes on. A call that
 * has neither a result nor a request afterwards was stopped with its turn, could not be prepared, or was not started
 * because it has to wait for a call that needs approval.
 *
 * Rejects when a call throws, after the other calls were aborted and have ended.
 */
export async function runToolCalls(
  turn: LeasedTurn,
  step: ModelStep,
  { toolbox, environmentId }: ToolCallRuntime,
  options: ToolCallOptions,
): Promise<RequestedActions> {
  const now = () => options.clock.now().getTime();
  const failed = new AbortController();
  const signal = AbortSignal.any([turn.signal, failed.signal]);
  const context: StepContext = { ...options, environmentId, signal, started: [], asks: new Map() };
  const whenExhausted: Ask[] = [];
  const runs: ToolRun[] = [];
  const order = new ToolCallOrder();
  const decided = await decideToolCalls(turn, step, toolbox, context);
  for (const [call, decision] of decided) {
    if (decision.kind === 'answer') {
      options.metrics.toolCall(toolbox.find(call.name) && call.name, 'not_run');
      recordResult(turn, step, call, decision.result, 0, now());
    } else if (decision.kind === 'ask') {
      context.asks.set(call.toolUseId, decision.ask);
      if (isClientTool(decision.tool)) turn.outbox.addUsage({ toolCalls: 1 });
      else order.defer(decision.tool);
    } else {
      const { run, kind } = decision;
      if (kind === 'unavailable') whenExhausted.push(decision.ask);
      if (kind === 'run' && !order.mustWait(run.tool)) runs.push(run);
      else order.defer(run.tool);
    }
  }
  const requested = () => ({
    asks: step.calls.flatMap(({ toolUseId }) => context.asks.get(toolUseId) ?? []),
    whenExhausted,
    hasReadyCalls: false,
  });
  if (runs.length === 0) return requested();
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
  if (!failure) {
    const hasReadyCalls = await dropMetRequests(turn, decided, context);
    return { ...requested(), hasReadyCalls };
  }
  await waitUntilStopped(context.started, turn.signal, options.clock);
  throw failure.reason;
}

/**
 * Drops the requests for credentials that were provided while other calls ran, because no decision about them would
 * follow. Their calls stay open. Returns whether there are such calls.
 */
async function dropMetRequests(
  turn: LeasedTurn,
  decided: readonly (readonly [ToolCall, PreparedCall])[],
  context: StepContext,
): Promise<boolean> {
  const met = await Promise.all(
    decided.map(async ([{ toolUseId }, decision]) => {
      if (decision.kind !== 'ask' || !decision.run) return false;
      const again = await prepareRun(turn, { kind: 'run', run: decision.run }, context);
      return again.kind === 'run' && context.asks.delete(toolUseId);
    }),
  );
  return met.includes(true);
}

/** Decides about the open calls, and prepares those that can run at the same time. */
async function decideToolCalls(
  turn: LeasedTurn,
  step: ModelStep,
  toolbox: Toolbox,
  options: StepOptions,
): Promise<(readonly [ToolCall, PreparedCall])[]> {
  const decisions: [ToolCall, ToolCallDecision][] = [];
  for (const call of openCalls(step))
    decisions.push([call, await decideToolCall(call, earlierAttempts(turn, call), toolbox)]);
  return Promise.all(
    decisions.map(async ([call, decision]) => [call, await prepareRun(turn, decision, options)] as const),
  );
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

/** Returns the dispatches and decisions that earlier attempts of the turn have recorded for a call. */
function earlierAttempts({ claimed }: LeasedTurn, { toolUseId }: ToolCall): CallRecord {
  return claimed.openCalls.find((open) => open.toolUseId === toolUseId) ?? NOT_DISPATCHED;
}
