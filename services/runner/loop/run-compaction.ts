import { contextRules } from '../../../lib/context-settings.ts';
import { abortable } from '../../../lib/grpc/abortable.ts';
import type { Event, Outcome, Usage } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { inputLimits } from '../context/input-limits.ts';
import type { ModelFailure } from '../models/failure.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import { type CompactionRequest, type CompactionResult, compact } from './compact.ts';
import { estimateFixed } from './estimate-input.ts';
import { type FitOptions, limitsOf, UNKNOWN_LIMITS, useCompaction } from './fit-context.ts';
import { openModel } from './model-access.ts';
import type { ModelFallback } from './model-fallback.ts';
import { noteContext } from './note-context.ts';
import { completed, failed, failureOutcome, stoppedOutcome } from './outcome.ts';
import type { ModelTurnState } from './run-model-step.ts';

/** The part of a history that a compaction on demand shortens: without the messages of later turns. */
export function historyUpTo(history: readonly Event[], upToSeq: number): Event[] {
  // An earlier attempt of the turn may have journaled its compaction.
  return history.filter(({ seq, type }) => seq <= upToSeq || type === 'agent.context_compacted');
}

/**
 * Shortens the history of a session because a user has asked for it. The event and the end of the turn are in one report. A
 * repeated attempt finds the event in the history, or repeats the summary.
 */
export async function runCompaction(
  turn: LeasedTurn,
  state: ModelTurnState,
  options: FitOptions,
): Promise<Outcome> {
  const { runtime, model, budget, history } = state;
  const { windows } = options;
  const rules = contextRules(runtime.context);
  // The settings of an assistant may have changed since the turn was queued.
  if (rules.strategy === 'none') return completed('end_turn');
  state.window = await windows.find(runtime.model, rules.window);
  const maxOutput = Math.min(budget.tokens, runtime.options.maxOutputTokens ?? model.maxOutputTokens);
  const facts = { maxOutput, threshold: rules.threshold, ratio: windows.ratioOf(runtime.model) };
  const limits = state.window ? inputLimits({ ...state.window, ...facts }) : UNKNOWN_LIMITS;
  state.threshold = limits.trigger;
  const opened = await openSummarizer(turn, rules.model ?? runtime.model, rules.strategy, options);
  if ('outcome' in opened) return opened.outcome;
  const fixed = estimateFixed(state, model);
  const spend = (usage: Usage) => turn.outbox.addUsage(usage);
  const request = { turn, history, rules, limits, fixed, isRefused: false, isOnDemand: true, spend };
  const { summarizer } = opened;
  const result = await compact({ ...request, summarizer }, options);
  if (turn.stopCause) return stoppedOutcome(turn, options);
  if (result.kind === 'not_summarized') {
    const isOwnModel = summarizer?.name === runtime.model;
    return unsummarizedOutcome(result, (failure) =>
      isOwnModel ? state.fallbackAfter(failure, opened.hasAgentKey) : undefined,
    );
  }
  if (result.kind === 'compacted') {
    turn.outbox.add('agent.context_compacted', result.data);
    useCompaction(turn, state, result.data);
  }
  noteContext(turn, state, model, options);
  return completed('end_turn');
}

type OpenedSummarizer =
  | { summarizer: CompactionRequest['summarizer']; hasAgentKey: boolean }
  | { outcome: Outcome };

/** Opens the model that writes the summary. Without a summary no model is needed. */
async function openSummarizer(
  turn: LeasedTurn,
  name: string,
  strategy: string,
  options: FitOptions,
): Promise<OpenedSummarizer> {
  if (strategy !== 'summarize') return { summarizer: undefined, hasAgentKey: false };
  const model = options.models(name);
  if (!model)
    return {
      outcome: failed('model_unknown', `Unknown model ${name}. Change the context settings of the agent.`),
    };
  const opened = await abortable(openModel(turn, model, options), turn.signal);
  if (opened.kind === 'ended') return { outcome: opened.outcome };
  const limits = await limitsOf(name, model, options);
  return { summarizer: { name, model: opened.model, limits }, hasAgentKey: opened.kind === 'agent_key' };
}

/** Without a summary the history stays as it is, and the turn fails with the reason or is retried. */
function unsummarizedOutcome(
  { failure, fallback }: Extract<CompactionResult, { kind: 'not_summarized' }>,
  fallbackAfter: (failure: ModelFailure) => ModelFallback | undefined,
): Outcome {
  if (failure) return failureOutcome(failure, fallbackAfter(failure));
  return fallback === 'summary_empty'
    ? failed('summary_empty', 'The model has written an empty summary. The history was not shortened.')
    : failed('summary_failed', 'The history has no room for a summary, or its model cannot read it.');
}
