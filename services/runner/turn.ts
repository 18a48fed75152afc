import { ERRORS, Refusal } from '../../lib/errors.ts';
import { abortable } from '../../lib/grpc/abortable.ts';
import type { CallOptions, Client } from '../../lib/grpc/contract.ts';
import type { Event, Outcome, SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { budgetOf, isLimited, isSpent } from './budget.ts';
import type { HeldTurn } from './held.ts';
import { historyOf } from './history.ts';
import { stepTimeout } from './models/failure.ts';
import type { Models } from './models/registry.ts';
import { completed, failed, failure, failureIn, handBack, retry } from './outcome.ts';
import { type SpeakOptions, speak } from './speak.ts';
import type { Versions } from './versions.ts';

export interface TurnOptions extends SpeakOptions {
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
  const { messages, answered } = historyOf(await messagesOf(turn, options, call), claimed.turnId);
  const budget = budgetOf(runtime, claimed.usage);
  if (answered !== undefined) return answer(answered, isLimited(budget));
  if (isSpent(budget)) return completed('budget_reached');

  const end = await speak(turn, { runtime, model, messages, budget }, options);
  switch (end.kind) {
    case 'finished':
      return answer(end.finishReason, Number.isFinite(budget.tokens));
    case 'failed':
      return failure(end.failure);
    case 'stopped':
      return stopped(turn, options);
  }
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
