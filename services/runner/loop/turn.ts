import { ERRORS } from '../../../lib/error-codes.ts';
import { Refusal } from '../../../lib/errors.ts';
import { abortable } from '../../../lib/grpc/abortable.ts';
import type { CallOptions, Client } from '../../../lib/grpc/contract.ts';
import { unknownModelOptions } from '../../../lib/model-options.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { Outcome } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { eventsForModel } from '../context/compactions.ts';
import { loadHistory } from '../context/load-history.ts';
import { PartsTooLarge } from '../parts/choose-parts.ts';
import { PartUnavailable } from '../parts/part-bytes.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import type { McpTools } from '../tools/mcp/open.ts';
import { enabledSkills, mayOfferSkills, offerSkills } from '../tools/skills/offered-skills.ts';
import type { RuntimeLoader } from './agent-runtime.ts';
import { isLimited, isSpent, remainingBudget } from './budget.ts';
import { type DeliverMessagesOptions, deliverMessages } from './deliver-messages.ts';
import { assistantMessage, buildHistory } from './history.ts';
import { openModel } from './model-access.ts';
import { beginWithModel, chooseFallback, isLastFailure } from './model-fallback.ts';
import { type ModelStep, modelStepOf, openCalls, toolResultsMessage, toolUseEvent } from './model-step.ts';
import { noteContext } from './note-context.ts';
import {
  blocked,
  completed,
  errorCodeOf,
  failed,
  failureOutcome,
  retryDependency,
  stoppedOutcome,
} from './outcome.ts';
import { applyOverrides } from './overrides.ts';
import { type ContextOptions, requestInContext } from './request-in-context.ts';
import { historyUpTo, runCompaction } from './run-compaction.ts';
import type { ModelTurnState } from './run-model-step.ts';
import { addInstructions, addServerTools, journalOfferedTools } from './server-tools.ts';
import { describeAgent } from './spans.ts';
import { FilesRefused } from './store-files.ts';
import { invalidOutputMessage, MAX_INVALID_OUTPUTS, problemLines } from './structured-output.ts';
import type { ToolCallOptions } from './tool-call-options.ts';
import { runToolCalls } from './tool-calls.ts';

interface TurnOptions
  extends ContextOptions,
    Omit<ToolCallOptions, keyof ContextOptions>,
    Omit<DeliverMessagesOptions, keyof ContextOptions> {
  sessions: ContextOptions['sessions'] & DeliverMessagesOptions['sessions'];
  reporter: ToolCallOptions['reporter'] & ContextOptions['reporter'];
  loadRuntime: RuntimeLoader;
  agents: Pick<Client<AgentsServiceDefinition>, 'lookUpSkills'>;
  /** Whether commands of this runner see the files of skills. */
  hasSkillCopies: boolean;
  mcpTools: Pick<McpTools, 'offer'>;
}

/** Runs one turn and puts its outcome into the outbox. Never rejects. A turn that lost its lease gets no outcome. */
export async function runTurn(turn: LeasedTurn, options: TurnOptions): Promise<void> {
  let outcome: Outcome;
  try {
    outcome = await runClaimedTurn(turn, options);
  } catch (error) {
    outcome = exceptionOutcome(turn, error, options);
  }
  if (turn.stopCause === 'lost') return;
  turn.errorCode = errorCodeOf(outcome);
  turn.outbox.finish(outcome);
}

async function runClaimedTurn(turn: LeasedTurn, options: TurnOptions): Promise<Outcome> {
  const { claimed, signal } = turn;
  const call: CallOptions = { trace: turn.span.trace };
  // The load is shared with other turns, so this turn stops waiting without cancelling it.
  const loaded = await abortable(options.loadRuntime(claimed.agentId, claimed.agentVersion, call), signal);
  if (!loaded) return failed('agent_version_missing', 'This version of the agent does not exist.');
  const extended = await abortable(addServerTools(loaded, options.mcpTools, call), signal);
  const instructed = addInstructions(
    claimed.overridesJson === undefined
      ? extended.runtime
      : applyOverrides(extended.runtime, claimed.overridesJson),
    extended.offered,
  );
  const pinned = mayOfferSkills(instructed.toolbox) ? (loaded.skills?.items ?? []) : [];
  turn.skills = await enabledSkills(options.agents, pinned, { ...call, signal });
  const offered = offerSkills(instructed, turn.skills, options.hasSkillCopies);
  // The claim may not hold every message.
  const whole = claimed.messagesIncomplete ? await loadHistory(turn, options) : claimed.messages;
  const { compactsUpToSeq } = claimed;
  const isCompaction = compactsUpToSeq !== undefined;
  const history = isCompaction ? historyUpTo(whole, compactsUpToSeq) : whole;
  const built = buildHistory(eventsForModel(history), claimed.turnId);
  const { messages, ownMessage, lastStep, answeredBy, callIds, invalidOutputs } = built;
  const begun = beginWithModel(offered, { ...claimed, answeredBy, messages }, options);
  const { runtime } = begun;
  const model = options.models(runtime.model);
  describeAgent(turn.span, runtime, model);
  if (!model)
    return failed('model_unknown', `Unknown model ${runtime.model}. Change the model of the agent.`);
  const [unknownOption] = unknownModelOptions(runtime.model, runtime.options.providerOptions);
  if (unknownOption !== undefined) return failed('model_options_unknown', unknownOptionText(unknownOption));
  const budget = remainingBudget(runtime, claimed.usage);
  const { failures } = claimed;
  const newestSeq = history.reduce((newest, { seq }) => Math.max(newest, seq), 0);
  const base = { runtime, model, history, isHistoryCurrent: true, newestSeq, messages, ownMessage, budget };
  const { maxFailures } = claimed;
  const state: ModelTurnState = {
    ...{ ...base, failures, invalidOutputs, callIds },
    begunFallback: begun.fallback,
    fallbackAfter(failure, hasAgentKey) {
      const isNoted = state.model.server && isLastFailure(state.failures, failure, maxFailures);
      if (isNoted) options.outages.exhausted(runtime.model, failure, hasAgentKey);
      return chooseFallback(state, failure, { ...options, maxFailures });
    },
  };
  const answered = lastStep?.calls.length === 0 ? lastStep : undefined;
  const outcome = answered && answerOutcome(answered, invalidOutputs, isLimited(budget));
  if (outcome) return outcome;
  if (budget.ms <= 0) return completed('budget_reached');
  const openStep = answered ? undefined : lastStep;
  if (openStep) addMissingToolUses(turn, openStep, state);
  if (!isCompaction) journalOfferedTools(turn, runtime, extended.offered);

  const cancelTimer = startBudgetTimer(turn, budget.ms, options);
  try {
    if (isCompaction) return await runCompaction(turn, state, options);
    return await runSteps(turn, state, openStep, options);
  } finally {
    cancelTimer();
    await extended.offered.close({ isLeaseLost: turn.stopCause === 'lost' });
  }
}

/** Runs model steps and their tool calls until the turn ends. `lastStep` is where an earlier attempt stopped. */
async function runSteps(
  turn: LeasedTurn,
  state: ModelTurnState,
  lastStep: ModelStep | undefined,
  options: TurnOptions,
): Promise<Outcome> {
  const { runtime, budget, messages } = state;
  let steps = turn.claimed.usage?.steps ?? 0;
  for (let step = lastStep; ; ) {
    if (step) {
      // Running a call is progress. A step that an earlier attempt completed is none and keeps the failure count.
      if (openCalls(step).length > 0) state.failures = 0;
      const { asks, whenExhausted, hasReadyCalls } = await runToolCalls(turn, step, runtime, options);
      // A request of a call that has run is lost unless the turn blocks with it.
      const blocks = turn.stopCause === 'stopping' && asks.some(({ state }) => state !== undefined);
      if (turn.stopCause && !blocks) return stoppedOutcome(turn, options);
      if (asks.length > 0) return blocked(asks);
      if (whenExhausted.length > 0) return retryDependency(whenExhausted);
      if (hasReadyCalls) continue;
      messages.push(toolResultsMessage(step));
      state.isHistoryCurrent = false;
    }
    if (steps >= runtime.maxSteps) return completed('max_steps_reached');
    if (isSpent(budget)) return completed('budget_reached');
    const access = await abortable(openModel(turn, state.model, options), turn.signal);
    if (access.kind === 'ended') return access.outcome;
    if (!(await deliverMessages(turn, state, steps + 1, options))) return stoppedOutcome(turn, options);
    const run = await requestInContext(turn, state, access, options);
    if ('outcome' in run) return run.outcome;
    const { end, content, checked, fallback } = run;
    if (end.kind === 'failed') return failureOutcome(end.failure, fallback);
    if (end.kind === 'stopped' || content === undefined) return stoppedOutcome(turn, options, fallback);
    steps++;
    const current = modelStepOf(content, end.finishReason, checked);
    const isTokenLimited = Number.isFinite(budget.tokens);
    budget.tokens -= end.outputTokens;
    const message = assistantMessage(content);
    if (message) messages.push(message);
    step = current;
    if (current.calls.length > 0) continue;
    if (checked && 'output_error' in checked) {
      state.invalidOutputs++;
      // The journaled message is progress.
      state.failures = 0;
      messages.push(invalidOutputMessage(checked.output_error));
    }
    const outcome = answerOutcome(current, state.invalidOutputs, isTokenLimited);
    if (outcome) {
      noteContext(turn, state, access.model, options);
      return outcome;
    }
    step = undefined;
  }
}

/**
 * Adds the `agent.tool_use` events that are missing behind their message: they did not fit into the report of the
 * message, and the earlier attempt ended before the next report.
 */
function addMissingToolUses(turn: LeasedTurn, lastStep: ModelStep, { runtime }: ModelTurnState): void {
  const journaled = new Set(turn.claimed.openCalls.map(({ toolUseId }) => toolUseId));
  for (const call of openCalls(lastStep)) {
    if (!journaled.has(call.toolUseId))
      turn.outbox.add('agent.tool_use', toolUseEvent(call, runtime.toolbox));
  }
}

/** All model steps and tool calls of a turn share one time budget. */
function startBudgetTimer(turn: LeasedTurn, ms: number, { clock }: TurnOptions): () => void {
  return Number.isFinite(ms) ? clock.after(ms, () => turn.stop('budget')) : () => {};
}

/**
 * The outcome after an answer; undefined when the model must answer again, because its answer does not match the output
 * schema. An answer that was cut at a token limit has reached the budget of the agent, if the agent has one.
 */
function answerOutcome(
  { finishReason, checked }: ModelStep,
  invalidOutputs: number,
  isBudgetLimited: boolean,
): Outcome | undefined {
  if (finishReason === 'content-filter') return completed('refused');
  const stopReason = finishReason === 'length' && isBudgetLimited ? 'budget_reached' : 'end_turn';
  if (!checked) return completed(stopReason);
  if ('output' in checked) return completed(stopReason, JSON.stringify(checked.output));
  if (stopReason === 'budget_reached') return completed(stopReason);
  if (invalidOutputs < MAX_INVALID_OUTPUTS) return undefined;
  return failed('output_invalid', `The answer is not valid. ${problemLines(checked.output_error)}`);
}

function unknownOptionText(name: string): string {
  return `Unknown model option ${JSON.stringify(name)}. Remove it from the model_options of the agent.`;
}

function exceptionOutcome(turn: LeasedTurn, error: unknown, options: TurnOptions): Outcome {
  const { log } = options;
  if (error instanceof Refusal && error.code === 'PAYLOAD_TOO_LARGE') {
    turn.outbox.discardMessage('model_output_too_large');
    return failed('model_output_too_large', 'The answer of the model exceeds the size limit of a message.');
  }
  if (error instanceof FilesRefused) return failed(error.code, error.message);
  if (error instanceof Refusal && error.code === 'LEASE_LOST') options.turns.lose(turn);
  if (error instanceof PartsTooLarge) return failed('parts_too_large', error.message);
  if (error instanceof PartUnavailable) {
    log.error({ ...turn.logFields, err: error }, 'the bytes of a part are missing; the turn failed');
    return failed('part_missing', error.message);
  }
  if (turn.stopCause) return stoppedOutcome(turn, options);
  if (error instanceof Refusal && (ERRORS[error.code].retryable || error.code === 'INTERNAL')) {
    log.warn({ ...turn.logFields, err: error }, 'another service is unavailable; the turn will be retried');
    return retryDependency();
  }
  log.error({ ...turn.logFields, err: error }, 'a turn failed unexpectedly');
  turn.outbox.discardMessage('internal');
  return failed('internal', 'The turn failed because of an internal error.');
}
