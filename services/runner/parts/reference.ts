import type { JSONValue, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { AssistantContent, ModelMessage, ToolResultPart, UserContent } from 'ai';

/** An image or file part in the journal. Its bytes are stored in the files service. */
export interface JournaledPart {
  type: 'image' | 'file';
  media_type: string;
  name?: string;
  sha256: string;
  size: number;
  /** Only of a file that a model has made: what the provider needs back. */
  providerOptions?: SharedV4ProviderOptions;
}

/** A part of a message whose bytes are not loaded. */
export interface PartReference {
  type: string;
  mediaType: string;
  name: string | undefined;
  sha256: string;
  /** In bytes. */
  size: number;
}

type AssistantParts = Exclude<AssistantContent, string>;
/** A part of an answer in the journal. */
export type AnswerPart = AssistantParts[number] | JournaledPart;
export type UserParts = Exclude<UserContent, string>;
export type ToolParts = Extract<ToolResultPart['output'], { type: 'content' }>['value'];

/** A file part whose data has a tag. It is valid in user messages and in tool results. */
export type TaggedFilePart = Extract<ToolParts[number], { type: 'file' }>;

/** Returns the content of a user message for a model. Its image and file parts become references. */
export function userParts(content: string | readonly (UserParts[number] | JournaledPart)[]): UserContent {
  if (typeof content === 'string') return content;
  return content.map((part) => (isJournaledPart(part) ? referencePart(part) : part));
}

/** Returns the content of an answer for a model. Its image and file parts become references. */
export function answerParts(content: readonly AnswerPart[]): AssistantContent {
  return content.map((part) => (isJournaledPart(part) ? referencePart(part) : part));
}

/** Returns the output of a tool that consists of text, image and file parts; undefined for any other output. */
export function toolParts(output: JSONValue): ToolParts | undefined {
  if (!Array.isArray(output) || !output.some(isJournaledPart)) return undefined;
  const parts: ToolParts = [];
  for (const part of output) {
    if (isJournaledPart(part)) parts.push(referencePart(part));
    else if (isTextPart(part)) parts.push({ type: 'text', text: part.text });
    else return undefined;
  }
  return parts;
}

const SHA256 = /^[0-9a-f]{64}$/;

function isJournaledPart(value: unknown): value is JournaledPart {
  if (typeof value !== 'object' || value === null) return false;
  const { type, media_type, sha256, size } = value as Record<string, unknown>;
  const isKnown = (type === 'image' || type === 'file') && typeof media_type === 'string';
  return isKnown && typeof sha256 === 'string' && SHA256.test(sha256) && isSize(size);
}

function isSize(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isTextPart(value: unknown): value is { text: string } {
  const { type, text } = (value ?? {}) as Record<string, unknown>;
  return type === 'text' && typeof text === 'string';
}

function referencePart(part: JournaledPart): TaggedFilePart {
  const { type, media_type: mediaType, name, sha256, size, providerOptions } = part;
  const reference = { kind: type, sha256, size: String(size) };
  return {
    ...{ type: 'file', mediaType, data: { type: 'reference', reference } },
    ...(name && { filename: name }),
    ...(providerOptions && { providerOptions }),
  };
}

/** A part of a user message, of an answer or of a tool result. */
export type MessagePart = UserParts[number] | AssistantParts[number] | ToolParts[number];

/** Returns the reference in a part of a message; undefined for a part of another kind. */
export function referenceIn(part: MessagePart): PartReference | undefined {
  if (part.type !== 'file') return undefined;
  const { data, mediaType, filename: name } = part;
  if (typeof data !== 'object' || !('type' in data) || data.type !== 'reference') return undefined;
  const { kind: type = '', sha256 = '', size } = data.reference as Record<string, string>;
  return { type, mediaType, name, sha256, size: Number(size) };
}

const NO_PARTS: MessagePart[] = [];

/** The parts of a user message, of an answer or of the tool results of a message, in order. */
export function partsOf(message: ModelMessage): readonly MessagePart[] {
  if (typeof message.content === 'string') return NO_PARTS;
  if (message.role === 'user' || message.role === 'assistant') return message.content;
  return message.content.flatMap((part) =>
    part.type === 'tool-result' && part.output.type === 'content' ? part.output.value : NO_PARTS,
  );
}

/** Names a part in a text, such as `image image/png 1234 bytes a.png`. */
export function describePart({ type, mediaType, size, name }: PartReference): string {
  return `${type} ${mediaType} ${size} bytes${name ? ` ${name}` : ''}`;
}
