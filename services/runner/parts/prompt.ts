import type { AssistantModelMessage, ModelMessage, TextPart, ToolResultPart } from 'ai';
import { essenceOf, isTextType } from '../../../lib/model-media.ts';
import { matchesMedia, type PartSupport } from '../models/part-support.ts';
import { chooseParts, type PartModel } from './choose-parts.ts';
import type { LoadedParts, PartBytes, ReadingTurn } from './part-bytes.ts';
import {
  describePart,
  type MessagePart,
  type PartReference,
  partsOf,
  referenceIn,
  type TaggedFilePart,
  type ToolParts,
} from './reference.ts';

/** The messages of one request with the bytes of their parts. */
export interface Prompt {
  messages: ModelMessage[];
  /** Releases the bytes. Call it when the request has ended. */
  release(): void;
}

interface PromptOptions {
  bytes: PartBytes;
  model: PartModel;
  turn: ReadingTurn;
  signal: AbortSignal;
  /** The index of the message that began the turn. */
  ownMessage: number;
}

/** Whether any message has a part whose bytes are not loaded. */
export function hasReferences(messages: readonly ModelMessage[]): boolean {
  return messages.some((message) => partsOf(message).some((part) => referenceIn(part) !== undefined));
}

/**
 * Loads the parts of the messages. Notes take the place of the parts that `chooseParts` leaves out. Rejects with
 * PartsTooLarge, and like `PartBytes.load`.
 */
export async function loadPrompt(messages: ModelMessage[], options: PromptOptions): Promise<Prompt> {
  const { bytes, model, turn, signal, ownMessage } = options;
  const { sent, notes } = chooseParts(messages, ownMessage, model);
  const loaded = await bytes.load(sent, turn, signal);
  const writer = new PromptWriter(model.parts, notes, loaded);
  return { messages: messages.flatMap((message) => writer.write(message)), release: loaded.release };
}

/** Replaces references by the form that the protocol of a provider has for them. */
class PromptWriter {
  readonly #support: PartSupport;
  readonly #notes: ReadonlyMap<MessagePart, string>;
  readonly #loaded: LoadedParts;
  /** Files that the protocol does not carry in their place. */
  readonly #moved: TaggedFilePart[] = [];

  constructor(support: PartSupport, notes: ReadonlyMap<MessagePart, string>, loaded: LoadedParts) {
    this.#support = support;
    this.#notes = notes;
    this.#loaded = loaded;
  }

  write(message: ModelMessage): ModelMessage[] {
    if (message.role === 'user' && typeof message.content !== 'string') {
      const content = message.content.map((part) => {
        const reference = referenceIn(part);
        return reference ? this.#resolve(part, reference) : part;
      });
      return [{ ...message, content }];
    }
    if (message.role === 'assistant' && hasReferences([message])) return this.#writeAnswer(message);
    if (message.role !== 'tool') return [message];
    const content = message.content.map((part) =>
      part.type === 'tool-result' ? this.#toolResult(part) : part,
    );
    return [{ ...message, content }, ...this.#takeMoved()];
  }

  /** The results of the calls of an answer must follow it directly, before the files that the answer cannot hold. */
  #writeAnswer(message: AssistantModelMessage): ModelMessage[] {
    if (typeof message.content === 'string') return [message];
    const { answers } = this.#support;
    const content = message.content.map((part) => {
      const reference = referenceIn(part);
      if (!reference) return part;
      const carried = this.#carry(part, reference, answers);
      const providerOptions = 'providerOptions' in part ? part.providerOptions : undefined;
      if (carried.type === 'text' || !providerOptions) return carried;
      return { ...carried, providerOptions: { ...carried.providerOptions, ...providerOptions } };
    });
    const hasCalls = content.some(({ type }) => type === 'tool-call');
    return [{ ...message, content }, ...(hasCalls ? [] : this.#takeMoved())];
  }

  /** Returns the part if the protocol carries its media type in this place. Otherwise the part is moved to a later message. */
  #carry(
    part: MessagePart,
    reference: PartReference,
    carried: RegExp | undefined,
  ): TextPart | TaggedFilePart {
    const resolved = this.#resolve(part, reference);
    if (resolved.type === 'text') return resolved;
    if (resolved.data.type === 'text') return textFile(reference, resolved.data.text);
    if (carried && matchesMedia(carried, resolved.mediaType)) return resolved;
    this.#moved.push(resolved);
    return { type: 'text', text: `[${describePart(reference)}: in the next message]` };
  }

  #takeMoved(): ModelMessage[] {
    const moved = this.#moved.splice(0);
    return moved.length === 0 ? [] : [{ role: 'user', content: [MOVED, ...moved] }];
  }

  #toolResult(result: ToolResultPart): ToolResultPart {
    if (result.output.type !== 'content') return result;
    const { toolResults: carried } = this.#support;
    const value = result.output.value.map((item): ToolParts[number] => {
      const reference = referenceIn(item);
      return reference ? this.#carry(item, reference, carried) : item;
    });
    if (carried) return { ...result, output: { type: 'content', value } };
    const text = value.map((item) => (item.type === 'text' ? item.text : '')).join('\n');
    return { ...result, output: { type: 'text', value: text } };
  }

  #resolve(part: MessagePart, reference: PartReference): TextPart | TaggedFilePart {
    const note = this.#notes.get(part);
    if (note !== undefined) return { type: 'text', text: note };
    const { mediaType, name, type } = reference;
    const bytes = this.#loaded.bytesOf(reference);
    const named = name === undefined ? {} : { filename: name };
    if (isTextType(mediaType) && !matchesMedia(this.#support.messages, mediaType)) {
      const text = bytes.toString();
      if (!this.#support.textDocuments || text.trim() === '') return textFile(reference, text);
      return { type: 'file', mediaType: 'text/plain', data: { type: 'text', text }, ...named };
    }
    // The rehearsal models show the type.
    const providerOptions = { rehearsal: { type } };
    const data = { type: 'data' as const, data: bytes };
    return { type: 'file', mediaType: essenceOf(mediaType), data, ...named, providerOptions };
  }
}

const MOVED: TextPart = { type: 'text', text: 'The images and files of the messages before:' };

function textFile({ name = 'unnamed', mediaType }: PartReference, text: string): TextPart {
  const attributes = `name=${JSON.stringify(name)} media_type=${JSON.stringify(mediaType)}`;
  return { type: 'text', text: `<file ${attributes}>\n${text}\n</file>` };
}
