import type { ModelMessage } from 'ai';
import type { Clock } from '../../lib/clock.ts';
import type { Ids } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { Tracer } from '../../lib/telemetry/tracer.ts';
import type { Budget } from './budget.ts';
import type { HeldTurn } from './held.ts';
import type { Model } from './models/registry.ts';
import { modelStep, type StepEnd } from './models/step.ts';
import { beginStep, endStep } from './spans.ts';
import type { Runtime } from './versions.ts';

export interface SpeakOptions {
  clock: Clock;
  ids: Ids;
  log: Log;
  tracer: Tracer;
  stepTimeoutSeconds: number;
}

export interface Question {
  runtime: Runtime;
  model: Model;
  messages: ModelMessage[];
  budget: Budget;
}

/**
 * Has the model speak once, as events of the turn. What it says is one message: kept when it is complete or
 * when the turn's time is up, otherwise discarded as far as anybody has heard of it.
 */
export async function speak(turn: HeldTurn, question: Question, options: SpeakOptions): Promise<StepEnd> {
  const { outbox, claimed } = turn;
  const { runtime, model, messages, budget } = question;
  const { clock } = options;
  const startedAt = clock.now().getTime();
  let firstTextAt: number | undefined;
  const blocks: string[] = [];

  outbox.add('model.request_started', { model: runtime.model });
  outbox.begin(options.ids('msg'));
  const cancelTimer = limitTime(turn, budget, options);
  const maxOutputTokens = Math.min(budget.tokens, model.maxOutputTokens);
  const { provider } = model;
  const span = beginStep(options.tracer, turn, { model: runtime.model, provider, maxOutputTokens });
  const request = {
    model: model.languageModel,
    system: runtime.system || undefined,
    messages,
    tools: [],
    maxOutputTokens,
    providerOptions: { [provider]: runtime.modelOptions, turn: { attempt: claimed.attempt } },
    signal: turn.signal,
    now: () => clock.now(),
  };
  const end = await modelStep(request, {
    textBegins: () => blocks.push(''),
    text(piece) {
      firstTextAt ??= clock.now().getTime();
      blocks.push((blocks.pop() ?? '') + piece);
      outbox.text(piece, firstTextAt);
    },
    thinking: (text) => outbox.thinking(text),
  });
  cancelTimer();
  const ttftMs = firstTextAt === undefined ? undefined : firstTextAt - startedAt;
  endStep(span, turn, end, ttftMs);
  if (turn.stopped === 'lost') return end;

  const isPart = turn.stopped === 'budget' && (firstTextAt !== undefined || outbox.begun);
  if (end.kind === 'finished' || isPart) {
    const said = end.kind === 'finished' ? end.content : blocks.map((text) => ({ type: 'text', text }));
    outbox.message({
      content: said.length === 0 ? [{ type: 'text', text: '' }] : said,
      model: runtime.model,
      finish_reason: end.kind === 'finished' ? end.finishReason : 'length',
    });
  } else {
    outbox.discard(reasonOf(turn, end));
  }
  const { inputTokens, outputTokens } = end.kind === 'finished' ? end : NO_TOKENS;
  outbox.count({ inputTokens, outputTokens, steps: 1 });
  outbox.add('model.request_finished', {
    model: runtime.model,
    usage: { input_tokens: inputTokens, output_tokens: outputTokens },
    ttft_ms: ttftMs,
    duration_ms: Math.max(0, clock.now().getTime() - startedAt),
    is_error: end.kind !== 'finished',
  });
  if (end.kind === 'failed' && end.failure.code === 'model_error') {
    options.log.error({ ...turn.facts, err: end.cause }, 'a model failed in an unexpected way');
  }
  return end;
}

const NO_TOKENS = { inputTokens: 0, outputTokens: 0 };

function limitTime(turn: HeldTurn, budget: Budget, { clock, stepTimeoutSeconds }: SpeakOptions): () => void {
  const timeoutMs = stepTimeoutSeconds * 1_000;
  return budget.ms <= timeoutMs
    ? clock.after(budget.ms, () => turn.stop('budget'))
    : clock.after(timeoutMs, () => turn.stop('timeout'));
}

function reasonOf(turn: HeldTurn, end: StepEnd): string {
  if (end.kind === 'failed') return end.failure.code;
  return turn.stopped === 'timeout' ? 'model_timeout' : 'runner_stopping';
}
