import { LabelSets, OTHER } from '../../../lib/label-sets.ts';
import type { Metrics } from '../../../lib/metrics.ts';
import type { ModelStepEnd } from '../models/model-step.ts';
import type { ToolEnd } from '../tools/run-tool.ts';

/*
 * The metrics of model requests and tool calls. Those of models have the names of
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/ with `_` for `.` and without suffixes for units.
 */

/** Models, errors of models and tools with series of their own. Agents choose the names of models, so they are limited. */
const MAX_MODELS = 8;
const MAX_MODEL_ERRORS = 12;
const MAX_TOOLS = 12;

/** The bounds that the conventions recommend, in seconds and tokens. They are exported on request. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

const MODEL_LABELS = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model'];
const OPERATION = 'chat';

interface ModelRequest {
  /** As in spans. */
  provider: string;
  /** The model name of the agent. */
  model: string;
  end: ModelStepEnd;
  /** The step timeout ended the request. */
  isTimeout: boolean;
  durationMs: number;
  /** Undefined when there was no text. */
  timeToFirstTextMs: number | undefined;
}

/** How a tool call ended. The model got an answer to a `not_run` call without a run of its tool. */
type ToolOutcome = 'succeeded' | 'failed' | 'timed_out' | 'stopped' | 'lost' | 'not_run';

export type RunnerMetrics = ReturnType<typeof createRunnerMetrics>;

export function createRunnerMetrics(metrics: Metrics) {
  const model = (name: string, help: string, buckets: readonly number[], more: string[] = []) =>
    metrics.distribution({ name, help, labels: [...MODEL_LABELS, ...more], detail: 'models', buckets });
  const durations = model(
    'gen_ai_client_operation_duration',
    'Duration of model requests in seconds.',
    SECONDS,
  );
  const firstTexts = model(
    'gen_ai_client_operation_time_to_first_chunk',
    'Time from a model request to its first text in seconds.',
    SECONDS,
  );
  const tokens = model(
    'gen_ai_client_token_usage',
    'Tokens of model requests. cache_read is a part of input, reasoning is a part of output.',
    TOKENS,
    ['gen_ai_token_type'],
  );
  const errors = metrics.counter({
    name: 'ahs_model_errors_total',
    help: 'Failed model requests by error code.',
    labels: [...MODEL_LABELS, 'error_type'],
  });
  const toolCalls = metrics.counter({
    name: 'ahs_tool_calls_total',
    help: 'Tool calls by tool and outcome. A call with the outcome not_run was answered without running its tool.',
    labels: ['name', 'outcome'],
  });
  const models = new LabelSets(MAX_MODELS);
  const modelErrors = new LabelSets(MAX_MODEL_ERRORS);
  const tools = new LabelSets(MAX_TOOLS);

  function recordTokens(labels: string[], counts: Record<string, number | undefined>): void {
    for (const [type, count] of Object.entries(counts))
      if (count !== undefined) tokens.labels(...labels, type).observe(count);
  }

  return {
    modelRequest({
      provider,
      model: name,
      end,
      isTimeout,
      durationMs,
      timeToFirstTextMs,
    }: ModelRequest): void {
      const model = modelId(name);
      const labels = [OPERATION, ...models.choose([provider, model], () => [OTHER, OTHER])];
      durations.labels(...labels).observe(durationMs / 1_000);
      if (timeToFirstTextMs !== undefined) firstTexts.labels(...labels).observe(timeToFirstTextMs / 1_000);
      if (end.kind === 'finished') {
        const { inputTokens: input, outputTokens: output, cacheReadTokens, reasoningTokens: reasoning } = end;
        recordTokens(labels, { input, output, cache_read: cacheReadTokens, reasoning });
      }
      const error = errorOf(end, isTimeout);
      if (error === undefined) return;
      errors
        .labels(OPERATION, ...modelErrors.choose([provider, model, error], () => [OTHER, OTHER, error]))
        .inc();
    },

    /** `name` is undefined for a tool that the runner does not have. */
    toolCall(name: string | undefined, outcome: ToolOutcome): void {
      const [label = OTHER] = name === undefined ? [OTHER] : tools.choose([name], () => [OTHER]);
      toolCalls.labels(label, outcome).inc();
    },
  };
}

/** Returns the name of the model at its provider. */
function modelId(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}

/** Undefined for a request that finished, or that ended because its turn was interrupted or reached a limit. */
function errorOf(end: ModelStepEnd, isTimeout: boolean): string | undefined {
  if (end.kind === 'failed') return end.failure.code;
  return end.kind === 'stopped' && isTimeout ? 'model_timeout' : undefined;
}

/** Undefined for a call that waits for a person, which ends later. */
export function toolOutcome(end: ToolEnd): ToolOutcome | undefined {
  if (end.kind === 'done') return end.isError ? 'failed' : 'succeeded';
  if (end.kind === 'failed') return end.cause === 'tool_timeout' ? 'timed_out' : 'failed';
  return end.kind === 'stopped' || end.kind === 'lost' ? end.kind : undefined;
}
