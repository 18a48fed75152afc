import {
  AISDKError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4FinishReason,
  type LanguageModelV4FunctionTool,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
  type SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { ModelMessage } from 'ai';
import { convertToLanguageModelPrompt, standardizePrompt } from 'ai/internal';
import { createAnswer, type StepContent, type StepListener } from './answer.ts';
import { loggable } from './cause.ts';
import { badRequest, type ModelFailure, modelFailure, streamCut } from './failure.ts';

export type { StepContent, StepListener };

/** The library prints warnings of its own unless it is told not to. */
globalThis.AI_SDK_LOG_WARNINGS = false;

/** What most models can be told about how to answer; absent members are left to the provider. */
export type StepSettings = Pick<
  LanguageModelV4CallOptions,
  'temperature' | 'topP' | 'topK' | 'presencePenalty' | 'frequencyPenalty' | 'stopSequences' | 'seed'
>;

export interface StepRequest {
  model: LanguageModelV4;
  /** Undefined for none. */
  system: string | undefined;
  messages: ModelMessage[];
  /** What the model may call; with none, it is told of none. */
  tools: LanguageModelV4FunctionTool[];
  maxOutputTokens: number;
  settings?: StepSettings;
  providerOptions: SharedV4ProviderOptions;
  signal: AbortSignal;
  now(): Date;
}

export type FinishReason = LanguageModelV4FinishReason['unified'];

export type StepEnd =
  | {
      kind: 'finished';
      finishReason: FinishReason;
      /** In the order in which the model said it; empty when it said nothing. */
      content: StepContent[];
      inputTokens: number;
      outputTokens: number;
    }
  /** `cause` may be written into a log; undefined when there is none. */
  | { kind: 'failed'; failure: ModelFailure; cause: Error | undefined }
  /** The signal aborted. What was said until then has been told. */
  | { kind: 'stopped' };

/**
 * One request to a model and its streamed answer.
 *
 * The library turns the messages into a prompt; the provider's own stream is then read as it is. The library's
 * agent loop (`streamText`) is left out on purpose: the loop of a turn is durable and therefore ours, retries
 * belong to the queue, and each of the streams it puts around the provider's costs more than all the rest.
 */
export async function modelStep(request: StepRequest, listener: StepListener): Promise<StepEnd> {
  const { signal } = request;
  if (signal.aborted) return { kind: 'stopped' };
  const exchange = new AbortController();
  const left = Promise.withResolvers<undefined>();
  const leave = () => {
    exchange.abort();
    left.resolve(undefined);
  };
  signal.addEventListener('abort', leave, { once: true });
  let end: StepEnd = { kind: 'stopped' };
  try {
    // A provider that does not listen to the signal must not hold the turn.
    const opening = open(request, exchange.signal);
    opening.catch(() => {});
    const call = await Promise.race([opening, left.promise]);
    if (call && !signal.aborted) end = await read(call.stream.getReader(), request, listener);
  } catch (error) {
    if (!signal.aborted)
      end = { kind: 'failed', failure: requestFailure(error, request.now()), cause: loggable(error) };
  } finally {
    signal.removeEventListener('abort', leave);
    // Whatever of the answer is left is for nobody.
    if (end.kind !== 'finished') exchange.abort();
  }
  return end;
}

async function open({ model, system, messages, ...request }: StepRequest, abortSignal: AbortSignal) {
  const prompt = await convertToLanguageModelPrompt({
    prompt: await standardizePrompt({ instructions: system, messages }),
    supportedUrls: await model.supportedUrls,
    // Links in a message are handed to the provider as they are: this service fetches nothing for a client.
    download: async (files) => files.map(() => null),
    provider: model.provider.split('.')[0],
  });
  const { tools, settings, maxOutputTokens, providerOptions } = request;
  return model.doStream({
    ...settings,
    ...(tools.length > 0 && { tools, toolChoice: { type: 'auto' } }),
    prompt,
    maxOutputTokens,
    providerOptions,
    abortSignal,
  });
}

type Reader = ReadableStreamDefaultReader<LanguageModelV4StreamPart>;

async function read(reader: Reader, { signal, now }: StepRequest, listener: StepListener): Promise<StepEnd> {
  const leave = () => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', leave, { once: true });
  const answer = createAnswer(listener);
  let end: StepEnd | undefined;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (signal.aborted) return { kind: 'stopped' };
      if (done) return end ?? cut(undefined);
      if (value.type === 'error') {
        leave();
        return { kind: 'failed', failure: modelFailure(value.error, now()), cause: loggable(value.error) };
      }
      if (value.type === 'finish') end = finished(value.finishReason.unified, value.usage, answer.content());
      else answer.add(value);
    }
  } catch (error) {
    return signal.aborted ? { kind: 'stopped' } : cut(error);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

function finished(finishReason: FinishReason, usage: LanguageModelV4Usage, content: StepContent[]): StepEnd {
  if (finishReason === 'error' || finishReason === 'interrupted') return cut(undefined);
  const { total: inputTokens = 0 } = usage.inputTokens;
  const { total: outputTokens = 0 } = usage.outputTokens;
  return { kind: 'finished', finishReason, content, inputTokens, outputTokens };
}

function cut(cause: unknown): StepEnd {
  return { kind: 'failed', failure: streamCut(), cause: loggable(cause) };
}

/** What the library itself refuses to send is a request that can never succeed. */
function requestFailure(error: unknown, now: Date): ModelFailure {
  const failure = modelFailure(error, now);
  return failure.code === 'model_error' && AISDKError.isInstance(error) ? badRequest(error.message) : failure;
}
