import type { AssistantContent, ModelMessage } from 'ai';
import type { Clock } from '../../lib/clock.ts';
import type { Ids } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { Tracer } from '../../lib/telemetry/tracer.ts';
import { storable } from '../../lib/text.ts';
import type { Budget } from './budget.ts';
import type { HeldTurn } from './held.ts';
import type { Model } from './models/registry.ts';
import { modelStep, type StepContent, type StepEnd } from './models/step.ts';
import { beginStep, endStep } from './spans.ts';
import { callsIn, useOf } from './step.ts';
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
  /** How often in a row the turn has failed since it last got on. */
  failures: number;
  /** The ids of the tool calls that the turn has had so far; those of this step are added. */
  callIds: Set<string>;
}

export interface Spoken {
  end: StepEnd;
  /** The message that was kept; undefined when it was discarded. */
  content: AssistantContent | undefined;
}

/**
 * Has the model speak once, as events of the turn. What it says is one message: kept when it is complete or
 * when the turn's time is up, otherwise discarded as far as anybody has heard of it.
 */
export async function speak(turn: HeldTurn, question: Question, options: SpeakOptions): Promise<Spoken> {
  const { outbox } = turn;
  const { runtime, model, messages, budget, failures } = question;
  const { clock } = options;
  const { settings, own, maxOutputTokens: wanted = model.maxOutputTokens } = runtime.options;
  const startedAt = clock.now().getTime();
  let firstTextAt: number | undefined;
  const blocks: string[] = [];

  outbox.add('model.request_started', { model: runtime.model });
  outbox.begin(options.ids('msg'));
  const timeoutMs = options.stepTimeoutSeconds * 1_000;
  const cancelTimer = clock.after(timeoutMs, () => turn.stop('timeout'));
  const maxOutputTokens = Math.min(budget.tokens, wanted);
  const { provider, defaults } = model;
  const span = beginStep(options.tracer, turn, { model: runtime.model, provider, maxOutputTokens });
  const request = {
    model: model.languageModel,
    system: runtime.system || undefined,
    messages,
    tools: runtime.toolbox.definitions,
    maxOutputTokens,
    settings,
    providerOptions: { [provider]: { ...defaults, ...own }, turn: { failures } },
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
  if (turn.stopped === 'lost') return { end, content: undefined };

  const isPart = turn.stopped === 'budget' && (firstTextAt !== undefined || outbox.begun);
  let content: StepContent[] | undefined;
  if (end.kind === 'finished' || isPart) {
    content = end.kind === 'finished' ? contentOf(end, question.callIds) : blocks.map(textPart);
    if (content.length === 0) content = [textPart('')];
    const finishReason = end.kind === 'finished' ? end.finishReason : 'length';
    const message = { content, model: runtime.model, finish_reason: finishReason };
    outbox.message(
      message,
      callsIn(content).map((call) => useOf(call, runtime.toolbox)),
    );
  } else {
    outbox.discard(reasonOf(turn, end));
  }
  const { inputTokens, outputTokens } = end.kind === 'finished' ? end : NO_TOKENS;
  outbox.count({ inputTokens, outputTokens, steps: content ? 1 : 0 });
  outbox.add('model.request_finished', {
    model: runtime.model,
    usage: { input_tokens: inputTokens, output_tokens: outputTokens },
    ttft_ms: ttftMs,
    duration_ms: Math.max(0, clock.now().getTime() - startedAt),
    is_error: end.kind !== 'finished',
  });
  if (end.kind === 'failed') tell(turn, runtime.model, end, options.log);
  return { end, content };
}

/** What only an operator can mend; the rest is between the session's owner and the provider. */
const FOR_OPERATORS = new Set([
  'model_unauthorized',
  'model_key_missing',
  'model_quota_exhausted',
  'model_unreachable',
]);

function tell(turn: HeldTurn, model: string, end: Extract<StepEnd, { kind: 'failed' }>, log: Log): void {
  const { code } = end.failure;
  const facts = { ...turn.facts, model, code, err: end.cause };
  if (code === 'model_error') log.error(facts, 'a model failed in an unexpected way');
  else if (FOR_OPERATORS.has(code)) log.warn(facts, 'a model cannot be used as it is set up');
}

const NO_TOKENS = { inputTokens: 0, outputTokens: 0 };

function textPart(text: string): StepContent {
  return { type: 'text', text };
}

/**
 * What a model that refuses wants done is not done. Some providers give several calls one id or none: each gets its own.
 * Ids and names also become something else than JSON, and are made fit for that.
 */
function contentOf(end: Extract<StepEnd, { kind: 'finished' }>, callIds: Set<string>): StepContent[] {
  if (end.finishReason === 'content-filter') return end.content.filter(({ type }) => type !== 'tool-call');
  for (const part of end.content) {
    if (part.type !== 'tool-call') continue;
    const given = storable(part.toolCallId) || 'call';
    part.toolName = storable(part.toolName);
    part.toolCallId = given;
    for (let again = 2; callIds.has(part.toolCallId); again++) part.toolCallId = `${given}_${again}`;
    callIds.add(part.toolCallId);
  }
  return end.content;
}

function reasonOf(turn: HeldTurn, end: StepEnd): string {
  if (end.kind === 'failed') return end.failure.code;
  return turn.stopped === 'timeout' ? 'model_timeout' : 'runner_stopping';
}
