import type { JSONValue, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { ModelMessage } from 'ai';
import {
  ENVELOPE_TOKENS,
  estimateTextTokens,
  IMAGE_TOKENS,
  tokensOfFile,
} from '../../../lib/token-estimate.ts';
import { type MessagePart, referenceIn, type ToolParts } from '../parts/reference.ts';

/** The parts of a request that a model reads. */
export interface EstimatedPrompt {
  /** Undefined for none. */
  system: string | undefined;
  messages: readonly ModelMessage[];
  tools: readonly LanguageModelV4FunctionTool[];
}

/**
 * Estimates the input tokens of a request without a tokenizer: from the UTF-8 bytes of its texts, and from the number
 * and sizes of its images and files. Pure; parts may be loaded or references.
 */
export function estimatePromptTokens({ system, messages, tools }: EstimatedPrompt): number {
  return estimateTextTokens(system ?? '') + estimateToolTokens(tools) + estimateMessages(messages);
}

/**
 * Every step of a turn estimates the whole prompt, of which most is known from the step before. Neither kind changes. Messages
 * of texts are not kept, because measuring them again is cheaper.
 */
const messageTokens = new WeakMap<ModelMessage, number>();
const toolTokens = new WeakMap<LanguageModelV4FunctionTool, number>();

/** Estimates the tokens of the images and files of messages. */
export function estimateFiles(messages: readonly ModelMessage[]): number {
  let sum = 0;
  for (const { content } of messages) {
    if (typeof content === 'string') continue;
    for (const part of content) {
      if (isFile(part)) sum += estimatePartTokens(part);
      else if (part.type === 'tool-result' && isContent(part.output))
        for (const output of part.output.value) if (isFile(output)) sum += estimatePartTokens(output);
    }
  }
  return sum;
}

/** Estimates the tokens of messages with their envelopes. Messages must not change afterwards. */
export function estimateMessages(messages: readonly ModelMessage[]): number {
  let sum = 0;
  for (const message of messages)
    sum += hasOnlyTexts(message)
      ? estimateMessageTokens(message)
      : estimateOnce(message, messageTokens, estimateMessageTokens);
  return sum;
}

function hasOnlyTexts({ content }: ModelMessage): boolean {
  if (typeof content === 'string') return true;
  for (const { type } of content) if (type !== 'text') return false;
  return true;
}

function estimateOnce<Item extends object>(
  item: Item,
  known: WeakMap<Item, number>,
  estimate: (item: Item) => number,
): number {
  let tokens = known.get(item);
  if (tokens === undefined) {
    tokens = estimate(item);
    known.set(item, tokens);
  }
  return tokens;
}

/** Estimates the tokens of the definitions of tools. Tools must not change afterwards. */
export function estimateToolTokens(tools: readonly LanguageModelV4FunctionTool[]): number {
  return tools.reduce((sum, tool) => sum + estimateOnce(tool, toolTokens, estimateTool), 0);
}

function estimateTool({ name, description = '', inputSchema }: LanguageModelV4FunctionTool): number {
  return ENVELOPE_TOKENS + estimateTextTokens(`${name}${description}${JSON.stringify(inputSchema)}`);
}

/** Estimates the tokens of one message with its envelope. */
export function estimateMessageTokens({ content }: ModelMessage): number {
  if (typeof content === 'string') return ENVELOPE_TOKENS + estimateTextTokens(content);
  let tokens = ENVELOPE_TOKENS;
  for (const part of content) tokens += estimatePartTokens(part);
  return tokens;
}

type AnyPart = Exclude<ModelMessage['content'], string>[number] | ToolParts[number];

function estimatePartTokens(part: AnyPart): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return estimateTextTokens(part.text);
    case 'tool-call':
      return ENVELOPE_TOKENS + estimateTextTokens(`${part.toolName}${JSON.stringify(part.input)}`);
    case 'tool-result':
      return ENVELOPE_TOKENS + estimateOutputTokens(part.output);
    case 'image':
      return IMAGE_TOKENS;
    case 'file':
      return tokensOfFile(part.mediaType, sizeOf(part));
    default:
      return estimateTextTokens(JSON.stringify(part));
  }
}

type ToolOutput =
  | { type: 'content'; value: ToolParts }
  | { type: string; value?: JSONValue; reason?: string | undefined };

function estimateOutputTokens(output: ToolOutput): number {
  if (isContent(output)) return output.value.reduce((sum, part) => sum + estimatePartTokens(part), 0);
  const { value = '' } = output;
  return estimateTextTokens(typeof value === 'string' ? value : JSON.stringify(value));
}

function isContent(output: ToolOutput): output is { type: 'content'; value: ToolParts } {
  return output.type === 'content';
}

function isFile({ type }: AnyPart): boolean {
  return type === 'image' || type === 'file';
}

/** The size of a file in bytes; 0 for a URL, which the provider reads itself. */
function sizeOf(part: Extract<MessagePart, { type: 'file' }>): number {
  const reference = referenceIn(part);
  if (reference) return reference.size;
  const { data } = part;
  if (typeof data !== 'object' || !('type' in data)) return bytesOf(data);
  if (data.type === 'text') return Buffer.byteLength(data.text);
  return data.type === 'data' ? bytesOf(data.data) : 0;
}

function bytesOf(data: unknown): number {
  if (data instanceof Uint8Array || data instanceof ArrayBuffer) return data.byteLength;
  return typeof data === 'string' ? Buffer.byteLength(data) : 0;
}
