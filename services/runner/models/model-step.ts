import {
  AISDKError,
  type JSONSchema7,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4FinishReason,
  type LanguageModelV4FunctionTool,
  type LanguageModelV4ResponseMetadata,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
  type SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { ModelMessage } from 'ai';
import { convertToLanguageModelPrompt, standardizePrompt } from 'ai/internal';
import { mayHaveBegun } from './begun-generation.ts';
import { type Breakpoints, withCacheBreakpoints } from './cache-breakpoints.ts';
import { badRequest, interruptedStream, type ModelFailure, toModelFailure } from './failure.ts';
import { parseProviderError } from './provider-error.ts';
import { redactedError } from './redacted-error.ts';
import {
  type ContentPart,
  type GeneratedFile,
  type ModelStepListener,
  ResponseAssembler,
} from './response-assembler.ts';

export type { ContentPart, GeneratedFile, ModelStepListener };

/** Turns off the warnings that the library prints to the console. */
globalThis.AI_SDK_LOG_WARNINGS = false;

/** Settings that most models support. Absent settings use the default of the provider. */
export type ModelSettings = Pick<
  LanguageModelV4CallOptions,
  'temperature' | 'topP' | 'topK' | 'presencePenalty' | 'frequencyPenalty' | 'stopSequences' | 'seed'
>;

export interface ModelStepRequest {
  model: LanguageModelV4;
  /** Undefined for none. */
  system: string | undefined;
  messages: ModelMessage[];
  /** The tools that the model may call. */
  tools: LanguageModelV4FunctionTool[];
  maxOutputTokens: number;
  /** The JSON Schema of the answer, for the native mode of the provider. Undefined for text. */
  outputSchema?: JSONSchema7 | undefined;
  settings?: ModelSettings;
  providerOptions: SharedV4ProviderOptions;
  /** Marks what the provider can cache. */
  cacheBreakpoints?: Breakpoints | undefined;
  /** Additional HTTP headers. */
  headers?: Record<string, string> | undefined;
  signal: AbortSignal;
  now(): Date;
}

type FinishReason = LanguageModelV4FinishReason['unified'];

/** Facts about an answer for telemetry. A member is undefined when the provider does not report it. */
interface ModelStepDetails {
  /** Input tokens that the provider read from its cache. */
  cacheReadTokens?: number | undefined;
  /** Input tokens that the provider wrote to its cache. */
  cacheWriteTokens?: number | undefined;
  /** Output tokens of reasoning. */
  reasoningTokens?: number | undefined;
  responseId?: string | undefined;
  /** The exact name of the model that answered. */
  responseModel?: string | undefined;
}

export type ModelStepEnd =
  | ({
      kind: 'finished';
      finishReason: FinishReason;
      /** In the order of the stream; empty for an empty answer. */
      content: ContentPart[];
      /** Whether the provider has reported the tokens. Otherwise they are 0. */
      hasUsage: boolean;
      /** All input tokens, including cached ones. */
      inputTokens: number;
      /** All output tokens, including those of reasoning. */
      outputTokens: number;
    } & ModelStepDetails)
  /** `hasBegun`: the provider may have begun to generate an answer. `cause` is redacted for logs. */
  | { kind: 'failed'; hasBegun: boolean; failure: ModelFailure; cause: Error | undefined }
  /** The signal aborted. The listener got everything up to then. `hasBegun`: the request was sent. */
  | { kind: 'stopped'; hasBegun: boolean };

/**
 * Sends one request to a model and reads the streamed answer. Never rejects.
 *
 * The library converts the messages to a prompt; the stream of the provider is read directly. The library's agent loop
 * (`streamText`) is not used: the loop of a turn is durable and part of this service, retries belong to the queue, and
 * each stream that the library wraps around the provider's stream costs more CPU than everything else in a step.
 */
export async function requestModelStep(
  request: ModelStepRequest,
  listener: ModelStepListener,
): Promise<ModelStepEnd> {
  const { signal } = request;
  if (signal.aborted) return { kind: 'stopped', hasBegun: false };
  const exchange = new AbortController();
  const aborted = Promise.withResolvers<undefined>();
  const abort = () => {
    exchange.abort();
    aborted.resolve(undefined);
  };
  signal.addEventListener('abort', abort, { once: true });
  let end: ModelStepEnd = { kind: 'stopped', hasBegun: true };
  try {
    // The race ends the step even if the provider ignores the signal.
    const opening = open(request, exchange.signal);
    opening.catch(() => {});
    const call = await Promise.race([opening, aborted.promise]);
    if (call && !signal.aborted) end = await read(call.stream.getReader(), request, listener);
  } catch (error) {
    if (!signal.aborted)
      end = {
        kind: 'failed',
        hasBegun: mayHaveBegun(error),
        failure: requestFailure(error, request.now()),
        cause: redactedError(error),
      };
  } finally {
    signal.removeEventListener('abort', abort);
    // Closes the connection: the rest of the answer is not needed.
    if (end.kind !== 'finished') exchange.abort();
  }
  return end;
}

async function open({ model, system, messages, ...request }: ModelStepRequest, abortSignal: AbortSignal) {
  const converted = await convertToLanguageModelPrompt({
    prompt: await standardizePrompt({ instructions: system, messages }),
    supportedUrls: await model.supportedUrls,
    // URLs in a message go to the provider unchanged: this service does not fetch them.
    download: async (files) => files.map(() => null),
    provider: model.provider.split('.')[0],
  });
  const { settings, maxOutputTokens, outputSchema: schema, providerOptions, headers } = request;
  const cacheable = { prompt: converted, tools: request.tools };
  const { prompt, tools } = request.cacheBreakpoints
    ? withCacheBreakpoints(cacheable, request.cacheBreakpoints)
    : cacheable;
  return model.doStream({
    ...settings,
    ...(tools.length > 0 && { tools, toolChoice: { type: 'auto' } }),
    ...(schema && { responseFormat: { type: 'json', name: 'output', schema } }),
    prompt,
    maxOutputTokens,
    providerOptions,
    ...(headers && { headers }),
    abortSignal,
  });
}

type Reader = ReadableStreamDefaultReader<LanguageModelV4StreamPart>;

async function read(
  reader: Reader,
  { signal, now }: ModelStepRequest,
  listener: ModelStepListener,
): Promise<ModelStepEnd> {
  const cancel = () => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', cancel, { once: true });
  const assembler = new ResponseAssembler(listener);
  let end: ModelStepEnd | undefined;
  let metadata: ResponseMetadata = {};
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (signal.aborted) return STOPPED;
      if (done) return end ?? interrupted(undefined);
      if (value.type === 'error') {
        cancel();
        return {
          kind: 'failed',
          // An error before any output is a refusal of the request.
          hasBegun: assembler.hasOutput || !parseProviderError(value.error),
          failure: toModelFailure(value.error, now()),
          cause: redactedError(value.error),
        };
      }
      if (value.type === 'finish')
        end = finished(value.finishReason, value.usage, assembler.content(), metadata);
      else if (value.type === 'response-metadata') metadata = value;
      else assembler.add(value);
    }
  } catch (error) {
    return signal.aborted ? STOPPED : interrupted(error);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

const STOPPED: ModelStepEnd = { kind: 'stopped', hasBegun: true };

type ResponseMetadata = Pick<LanguageModelV4ResponseMetadata, 'id' | 'modelId'>;

function finished(
  { unified: finishReason, raw }: LanguageModelV4FinishReason,
  usage: LanguageModelV4Usage,
  content: ContentPart[],
  metadata: ResponseMetadata,
): ModelStepEnd {
  if (finishReason === 'error' || finishReason === 'interrupted') return interrupted(undefined);
  const hasUsage = usage.inputTokens.total !== undefined || usage.outputTokens.total !== undefined;
  // The package of Bedrock ends a stream so when its connection closed early.
  if (finishReason === 'other' && raw === undefined && !hasUsage) return interrupted(undefined);
  const { total: inputTokens = 0, cacheRead, cacheWrite } = usage.inputTokens;
  const { total: outputTokens = 0, reasoning } = usage.outputTokens;
  const details = {
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    reasoningTokens: reasoning,
    responseId: metadata.id,
    responseModel: metadata.modelId,
  };
  return { kind: 'finished', finishReason, content, hasUsage, inputTokens, outputTokens, ...details };
}

function interrupted(cause: unknown): ModelStepEnd {
  return { kind: 'failed', hasBegun: true, failure: interruptedStream(), cause: redactedError(cause) };
}

/** A request that the library itself rejects can never succeed. */
function requestFailure(error: unknown, now: Date): ModelFailure {
  const failure = toModelFailure(error, now);
  return failure.code === 'model_error' && AISDKError.isInstance(error) ? badRequest(error.message) : failure;
}
