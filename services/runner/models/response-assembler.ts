import type {
  LanguageModelV4File,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { AssistantContent, FilePart, TextPart, ToolCallPart } from 'ai';

type FileOf<Data> = Omit<FilePart, 'data'> & { data: Data };
/** The bytes of a file that a model has generated. */
export type GeneratedFile = FileOf<Uint8Array>;
/** The URL of a file that a model has generated. */
export type LinkedFile = FileOf<string>;
type ReasoningPart = Extract<AssistantContent[number], { type: 'reasoning' }>;

/** One part of an answer, in the form in which the next request sends it back. */
export type ContentPart = TextPart | ReasoningPart | ToolCallPart | GeneratedFile | LinkedFile;

/** Gets the answer of a model while it is streamed. */
export interface ModelStepListener {
  /** A block of text begins. */
  textBegins(): void;
  /** A piece of the current block; it may end within a surrogate pair. */
  text(delta: string): void;
  /** The whole text of a thinking block. */
  thinking(text: string): void;
  /** A piece of any output as it arrives: text, thinking, or the input of a tool call. */
  generated?(piece: string, isReasoning: boolean): void;
}

/**
 * Assembles the streamed answer of a model. Blocks can overlap, so each is found by its id. Provider metadata stays
 * with its block, and newer metadata replaces older: providers reject the next request without the signature of a
 * thinking block, which comes at the end of the block.
 */
export class ResponseAssembler {
  readonly #listener: ModelStepListener;
  readonly #content: ContentPart[] = [];
  readonly #texts = new Map<string, TextPart>();
  readonly #thoughts = new Map<string, ReasoningPart>();
  /** The ids of calls whose input was streamed. */
  readonly #inputs = new Set<string>();

  constructor(listener: ModelStepListener) {
    this.#listener = listener;
  }

  add(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-start':
        attach(this.#text(part.id), part.providerMetadata);
        break;
      case 'text-delta': {
        const text = this.#text(part.id);
        text.text += part.delta;
        attach(text, part.providerMetadata);
        this.#listener.generated?.(part.delta, false);
        this.#listener.text(part.delta);
        break;
      }
      case 'text-end':
        attach(this.#text(part.id), part.providerMetadata);
        this.#texts.delete(part.id);
        break;
      case 'reasoning-start':
        attach(this.#thought(part.id), part.providerMetadata);
        break;
      case 'reasoning-delta': {
        const thought = this.#thought(part.id);
        thought.text += part.delta;
        attach(thought, part.providerMetadata);
        this.#listener.generated?.(part.delta, true);
        break;
      }
      case 'reasoning-end': {
        const thought = this.#thought(part.id);
        attach(thought, part.providerMetadata);
        this.#thoughts.delete(part.id);
        if (thought.text !== '') this.#listener.thinking(thought.text);
        break;
      }
      case 'tool-input-delta':
        this.#inputs.add(part.id);
        this.#listener.generated?.(part.delta, false);
        break;
      case 'tool-call':
        if (!this.#inputs.has(part.toolCallId)) this.#listener.generated?.(part.input, false);
        // The provider itself answers the calls that it executes.
        if (!part.providerExecuted) this.#content.push(toolCall(part));
        break;
      case 'file':
        this.#content.push(file(part));
        break;
    }
  }

  /**
   * Returns the parts so far in stream order, without those that providers reject in the next request: empty texts and
   * thinking blocks at the end.
   */
  content(): ContentPart[] {
    const parts = this.#content.filter((part) => part.type !== 'text' || part.text !== '');
    return parts.slice(0, parts.findLastIndex(({ type }) => type !== 'reasoning') + 1);
  }

  /** Whether any part of an answer has begun. */
  get hasOutput(): boolean {
    return this.#content.length > 0 || this.#inputs.size > 0;
  }

  #text(id: string): TextPart {
    const known = this.#texts.get(id);
    if (known) return known;
    const part: TextPart = { type: 'text', text: '' };
    this.#content.push(part);
    this.#texts.set(id, part);
    this.#listener.textBegins();
    return part;
  }

  #thought(id: string): ReasoningPart {
    const known = this.#thoughts.get(id);
    if (known) return known;
    const part: ReasoningPart = { type: 'reasoning', text: '' };
    this.#content.push(part);
    this.#thoughts.set(id, part);
    return part;
  }
}

function attach(part: ContentPart, metadata: SharedV4ProviderMetadata | undefined): void {
  if (metadata) part.providerOptions = metadata;
}

function toolCall({ toolCallId, toolName, input, providerMetadata }: LanguageModelV4ToolCall): ToolCallPart {
  const part: ToolCallPart = { type: 'tool-call', toolCallId, toolName, input: parseInput(input) };
  attach(part, providerMetadata);
  return part;
}

/**
 * Parses the input of a call. Providers accept only objects in the next request, so other text becomes the member of an
 * object, which the tool then rejects with its own message.
 */
function parseInput(text: string): object {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {}
  return { invalid_json: text };
}

function file({ data, mediaType, providerMetadata }: LanguageModelV4File): GeneratedFile | LinkedFile {
  const found = fileData(data);
  const part: GeneratedFile | LinkedFile =
    typeof found === 'string'
      ? { type: 'file', data: found, mediaType }
      : { type: 'file', data: found, mediaType };
  attach(part, providerMetadata);
  return part;
}

const BASE64_URL = /^data:[^,]*;base64,/i;

/** Returns bytes, or a URL to bytes elsewhere. */
function fileData(data: LanguageModelV4File['data']): Uint8Array | string {
  if (data.type === 'data')
    return typeof data.data === 'string' ? Buffer.from(data.data, 'base64') : data.data;
  const url = data.originalUrl ?? data.url.href;
  const head = BASE64_URL.exec(url)?.[0];
  return head === undefined ? url : Buffer.from(url.slice(head.length), 'base64');
}
