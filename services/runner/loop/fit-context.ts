import type { ContextRules } from '../../../lib/context-settings.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type {
  Event,
  Outcome,
  SessionsServiceDefinition,
  Usage,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { type Compaction, eventsForModel } from '../context/compactions.ts';
import type { ContextWindows } from '../context/context-windows.ts';
import { estimateMessages } from '../context/estimate-tokens.ts';
import { type InputLimits, inputLimits } from '../context/input-limits.ts';
import { loadHistory } from '../context/load-history.ts';
import { CONTEXT_EXCEEDED } from '../models/failure.ts';
import type { Model, Models } from '../models/registry.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import type { Reporter } from '../queue/reporter.ts';
import { type CompactionOptions, type CompactionRequest, type CompactionResult, compact } from './compact.ts';
import { estimateFixed } from './estimate-input.ts';
import { buildHistory } from './history.ts';
import { type ModelAccess, type ModelKeyOptions, openModel } from './model-access.ts';
import { toolResultsMessage } from './model-step.ts';
import { failed } from './outcome.ts';
import type { ModelTurnState } from './run-model-step.ts';

export interface FitOptions extends CompactionOptions, ModelKeyOptions {
  sessions: Pick<Client<SessionsServiceDefinition>, 'listMessages'>;
  models: Models;
  windows: ContextWindows;
  reporter: Pick<Reporter, 'commit'>;
}

export type UsableAccess = Exclude<ModelAccess, { kind: 'ended' }>;

export interface FitRequest {
  rules: ContextRules;
  /** The context window of the model in tokens. */
  window: number;
  /** The provider has refused the request because of its length. */
  isRefused: boolean;
}

export type FitResult =
  | { kind: 'ready' }
  /** The request cannot be made short enough. */
  | { kind: 'ended'; outcome: Outcome }
  /** The lease is lost. */
  | { kind: 'stopped' };

const READY: FitResult = { kind: 'ready' };
/** The limits of a model with an unknown window that writes summaries. */
export const UNKNOWN_LIMITS: InputLimits = { max: 6_000, trigger: 6_000, output: 1_000 };

/** Shortens the history of a turn if it is too long. `state` then has the messages of the shortened history. */
export async function fitContext(
  turn: LeasedTurn,
  state: ModelTurnState,
  access: UsableAccess,
  { rules, window, isRefused }: FitRequest,
  options: FitOptions,
): Promise<FitResult> {
  const { runtime } = state;
  const { model } = access;
  const fixed = estimateFixed(state, model);
  const ratio = options.windows.ratioOf(runtime.model);
  const maxOutput = Math.min(state.budget.tokens, runtime.options.maxOutputTokens ?? model.maxOutputTokens);
  const limits = inputLimits({ window, maxOutput, threshold: rules.threshold, ratio });
  state.outputLimit = limits.output;
  state.threshold = rules.strategy === 'none' ? undefined : limits.trigger;
  const estimate = fixed + estimateMessages(state.messages);
  if (!isRefused && estimate <= limits.trigger) return READY;
  if (rules.strategy === 'none')
    return estimate <= limits.max ? READY : exceeded('The conversation has', estimate, limits);
  if (!state.isHistoryCurrent) {
    if (!(await options.reporter.commit(turn))) return { kind: 'stopped' };
    state.history = await loadHistory(turn, options);
    state.isHistoryCurrent = true;
  }
  const { history } = state;
  const summarizer = await summarizerOf(turn, access, { rules, limits, state }, options);
  const spend = (usage: Usage) => {
    turn.outbox.addUsage(usage);
    state.budget.tokens -= usage.outputTokens;
  };
  const shared = { turn, history, rules, limits, fixed, isRefused, summarizer, spend };
  const request = { ...shared, isOnDemand: false };
  const result = await compact(request, options);
  if (turn.stopCause) return { kind: 'stopped' };
  if (result.kind === 'fits' || result.kind === 'not_summarized') return READY;
  if (result.kind === 'too_long') return exceeded(SUBJECTS[result.part], result.tokens, limits);
  return (await apply(turn, state, result, options)) ? READY : { kind: 'stopped' };
}

const SUBJECTS = {
  'system prompt and tools': 'The system prompt and the tools of the agent have',
  message: 'The system prompt, the tools, the message and the pinned messages have',
};

function exceeded(subject: string, tokens: number, { max }: InputLimits): FitResult {
  const text = `${subject} about ${tokens} tokens, and the model accepts about ${Math.max(0, max)}.`;
  return { kind: 'ended', outcome: failed(CONTEXT_EXCEEDED, text) };
}

/** Journals a compaction and makes its messages those of the turn. Resolves with false when the lease is lost. */
async function apply(
  turn: LeasedTurn,
  state: ModelTurnState,
  { data }: Extract<CompactionResult, { kind: 'compacted' }>,
  { reporter }: FitOptions,
): Promise<boolean> {
  turn.outbox.add('agent.context_compacted', data);
  if (!(await reporter.commit(turn))) return false;
  useCompaction(turn, state, data);
  return true;
}

/** Makes the messages of a compacted history those of the turn. */
export function useCompaction(turn: LeasedTurn, state: ModelTurnState, data: Compaction): void {
  const { turnId } = turn.claimed;
  state.history = [...state.history, compactionEvent(state.history, turnId, data)];
  const { messages, ownMessage, lastStep } = buildHistory(eventsForModel(state.history), turnId);
  if (lastStep && lastStep.calls.length > 0) messages.push(toolResultsMessage(lastStep));
  state.messages.splice(0, state.messages.length, ...messages);
  state.ownMessage = ownMessage;
}

/** The event as the journal has it, but for the members that the model's input does not depend on. */
function compactionEvent(history: readonly Event[], turnId: string, data: Compaction): Event {
  const type = 'agent.context_compacted';
  const seq = history.reduce((newest, event) => Math.max(newest, event.seq), 0) + 1;
  return { seq, type, json: JSON.stringify({ seq, type, turn_id: turnId, data }) };
}

/** The model that writes summaries. Undefined when its key cannot be used now, or the budget of the turn is spent. */
async function summarizerOf(
  turn: LeasedTurn,
  access: UsableAccess,
  { rules, limits, state }: { rules: ContextRules; limits: InputLimits; state: ModelTurnState },
  options: FitOptions,
): Promise<CompactionRequest['summarizer']> {
  const { model: turnModel } = state.runtime;
  const name = rules.model ?? turnModel;
  if (rules.strategy !== 'summarize' || state.budget.tokens <= 0) return undefined;
  if (name === turnModel) return { name, model: access.model, limits };
  const model: Model | undefined = options.models(name);
  if (!model) return undefined;
  const opened = await openModel(turn, model, options);
  if (opened.kind === 'ended') return undefined;
  return { name, model: opened.model, limits: await limitsOf(name, model, options) };
}

/** The limits of a model without the settings of an agent. */
export async function limitsOf(
  name: string,
  model: Model,
  { windows }: Pick<FitOptions, 'windows'>,
): Promise<InputLimits> {
  const window = await windows.windowOf(name, undefined);
  const facts = { maxOutput: model.maxOutputTokens, threshold: 1, ratio: windows.ratioOf(name) };
  return window === undefined ? UNKNOWN_LIMITS : inputLimits({ window, ...facts });
}
