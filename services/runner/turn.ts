import { ERRORS, Refusal } from '../../lib/errors.ts';
import { abortable } from '../../lib/grpc/abortable.ts';
import type { CallOptions, Client } from '../../lib/grpc/contract.ts';
import type { Event, Outcome, SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { budgetOf, isLimited, isSpent } from './budget.ts';
import { type CallsOptions, carryOut } from './calls.ts';
import type { HeldTurn } from './held.ts';
import { assistantMessage, historyOf } from './history.ts';
import { stepTimeout } from './models/failure.ts';
import type { Models } from './models/registry.ts';
import { blocked, completed, failed, failure, failureIn, handBack, retry } from './outcome.ts';
import { type Question, type SpeakOptions, speak } from './speak.ts';
import { openCalls, resultsMessage, type Step, stepOf, useOf } from './step.ts';
import type { Versions } from './versions.ts';

export interface TurnOptions extends SpeakOptions, CallsOptions {
  sessions: Pick<Client<SessionsServiceDefinition>, 'listMessages'>;
  versions: Versions;
  models: Models;
}

/** Carries out one turn, up to its outcome in the outbox. Never fails; a turn that is lost ends in silence. */
export async function runTurn(turn: HeldTurn, options: TurnOptions): Promise<void> {
  let outcome: Outcome;
  try {
    outcome = await play(turn, options);
  } catch (error) {
    outcome = unexpected(turn, error, options);
  }
  if (turn.stopped === 'lost') return;
  turn.failure = failureIn(outcome);
  turn.outbox.finish(outcome);
}

async function play(turn: HeldTurn, options: TurnOptions): Promise<Outcome> {
  const { claimed, signal } = turn;
  const call: CallOptions = { trace: turn.span.trace };
  // What is loaded is for other turns, too: this one leaves it, and does not cancel it.
  const runtime = await abortable(options.versions(claimed.agentId, claimed.agentVersion, call), signal);
  if (!runtime) return failed('agent_version_missing', 'This version of the agent does not exist.');
  const model = options.models(runtime.model);
  if (!model) return failed('model_unknown', `There is no model ${runtime.model} here.`);
  const { messages, last, callIds } = historyOf(await messagesOf(turn, options, call), claimed.turnId);
  const budget = budgetOf(runtime, claimed.usage);
  const { failures } = claimed;
  const question: Question = { runtime, model, messages, budget, failures, callIds };
  if (last?.calls.length === 0) return answer(last.finishReason, isLimited(budget));
  if (budget.ms <= 0) return completed('budget_reached');
  if (last) journalUses(turn, last, question);

  const cancelTimer = limitTime(turn, budget.ms, options);
  try {
    return await loop(turn, question, last, options);
  } finally {
    cancelTimer();
  }
}

/** Step after step, each with the calls it wants, from wherever the turn has got to. */
async function loop(
  turn: HeldTurn,
  question: Question,
  last: Step | undefined,
  options: TurnOptions,
): Promise<Outcome> {
  const { runtime, budget, messages } = question;
  let steps = turn.claimed.usage?.steps ?? 0;
  for (let step = last; ; ) {
    if (step) {
      // It gets on; a step that an earlier attempt had done with leaves the failures behind it as they are.
      if (openCalls(step).length > 0) question.failures = 0;
      const asks = await carryOut(turn, step, runtime, options);
      if (turn.stopped) return stopped(turn, options);
      if (asks.length > 0) return blocked(asks);
      messages.push(resultsMessage(step));
    }
    if (steps >= runtime.maxSteps) return completed('max_steps_reached');
    if (isSpent(budget)) return completed('budget_reached');
    const { end, content } = await speak(turn, question, options);
    if (end.kind === 'failed') return failure(end.failure);
    if (end.kind === 'stopped' || content === undefined) return stopped(turn, options);
    steps++;
    step = stepOf(content, end.finishReason);
    if (step.calls.length === 0) return answer(end.finishReason, Number.isFinite(budget.tokens));
    budget.tokens -= end.outputTokens;
    const message = assistantMessage(content);
    if (message) messages.push(message);
  }
}

/** Of calls that were lost between their message and their agent.tool_use, which did not fit into one report. */
function journalUses(turn: HeldTurn, last: Step, { runtime }: Question): void {
  const known = new Set(turn.claimed.openCalls.map(({ toolUseId }) => toolUseId));
  for (const call of openCalls(last)) {
    if (!known.has(call.toolUseId)) turn.outbox.add('agent.tool_use', useOf(call, runtime.toolbox));
  }
}

/** The time budget is one for all steps and tools of the turn. */
function limitTime(turn: HeldTurn, ms: number, { clock }: TurnOptions): () => void {
  return Number.isFinite(ms) ? clock.after(ms, () => turn.stop('budget')) : () => {};
}

/** A message that ends because the agent's budget ended it has reached that budget. */
function answer(finishReason: string, isLimited: boolean): Outcome {
  if (finishReason === 'content-filter') return completed('refused');
  return completed(finishReason === 'length' && isLimited ? 'budget_reached' : 'end_turn');
}

function stopped(turn: HeldTurn, { stepTimeoutSeconds }: TurnOptions): Outcome {
  if (turn.stopped === 'budget') return completed('budget_reached');
  return turn.stopped === 'timeout' ? failure(stepTimeout(stepTimeoutSeconds)) : handBack();
}

const PAGE = 100;

async function messagesOf({ claimed, signal }: HeldTurn, { sessions }: TurnOptions, call: CallOptions) {
  if (!claimed.messagesIncomplete) return claimed.messages;
  const { sessionId } = claimed;
  const all: Event[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page = { limit: PAGE, cursor };
    const answer = await sessions.listMessages({ sessionId, page }, { ...call, signal });
    all.push(...answer.events);
    cursor = answer.page?.nextCursor || undefined;
  }
  return all;
}

function unexpected(turn: HeldTurn, error: unknown, { log }: TurnOptions): Outcome {
  if (error instanceof Refusal && error.code === 'PAYLOAD_TOO_LARGE') {
    turn.outbox.discard('model_output_too_large');
    return failed('model_output_too_large', 'The model said more than one message can hold.');
  }
  if (turn.stopped) return handBack();
  if (error instanceof Refusal && (ERRORS[error.code].retryable || error.code === 'INTERNAL')) {
    log.warn({ ...turn.facts, err: error }, 'a turn needs a part of the service that does not answer');
    return retry('dependency_unavailable', 'A part of the service cannot be reached at the moment.');
  }
  log.error({ ...turn.facts, err: error }, 'a turn failed in an unexpected way');
  turn.outbox.discard('internal');
  return failed('internal', 'An unexpected failure.');
}
