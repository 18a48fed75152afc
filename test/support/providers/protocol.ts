import type { ProviderSettings } from '../../../services/runner/models/provider-settings.ts';

/** A part of a model's output. */
export type OutputPart =
  | { text: string }
  /** `seal`: the data that the provider requires to be sent back, a signature or the encrypted thought. */
  | { thought: string; seal: string }
  | { call: string; name: string; input: string };

/** A fault of the stream after the parts. */
type StreamFault = 'cut' | 'end' | 'garbled' | 'overloaded' | 'limited' | 'too long' | 'silence';

/** Cached and cache-written tokens are a part of the input, reasoning is a part of the output. */
export interface StreamedTokens {
  input: number;
  output: number;
  cached?: number;
  /** Only of Claude models. */
  written?: number;
  reasoning?: number;
}

export interface StreamedResponse {
  parts: OutputPart[];
  tokens?: StreamedTokens;
  /** Default: derived from the parts. */
  finishReason?: 'length';
  fault?: StreamFault;
}

export interface ErrorResponse {
  status: number;
  /** The provider's name of the error. */
  kind: string;
  message: string;
  headers?: Record<string, string>;
}

/** `reset`: the connection is closed without a response. */
export type ScriptedResponse = StreamedResponse | ErrorResponse | 'reset';

/** A piece of a stream. */
export type Frame = string | Uint8Array;

/** The HTTP protocol of one provider. */
export interface ProviderProtocol {
  name: string;
  /** The name of the model in an agent. */
  model: string;
  path: string;
  /** The media type of streams. Default: text/event-stream. */
  contentType?: string;
  key: string;
  /** The server of access tokens, and its answer. Its requests are not recorded. */
  tokens?: { path: string; status?: number; answer: object };
  /** The header with the key. */
  credential: [name: string, value: string];
  settings(url: string): ProviderSettings;
  /** The frames from the start of the stream to the end of the parts. */
  streamStart(response: StreamedResponse): Frame[];
  streamEnd(response: StreamedResponse): Frame[];
  /** An error in the middle of a stream. */
  streamError(fault: 'overloaded' | 'limited' | 'too long'): Frame;
  errorBody(error: ErrorResponse): unknown;
  /** The error message with which the provider refuses the messages of a request; undefined when it accepts them. */
  problem(body: Record<string, unknown>): string | undefined;
}

/** The content of a message: text, or parts of which some have a text. */
export type MessageContent = string | readonly { type?: string; text?: string }[] | undefined;

/** The texts of a content, in order. */
export function textsIn(content: MessageContent): string[] {
  if (typeof content === 'string') return [content];
  return (content ?? []).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
}

/** One server-sent event. */
export function frame(data: unknown, event?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
}

/** Splits a text into chunks of at most seven characters, like tokens. */
export function chunksOf(text: string): string[] {
  return text.match(/[\s\S]{1,7}/gu) ?? [];
}
