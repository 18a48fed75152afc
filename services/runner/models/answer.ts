import type {
  LanguageModelV4File,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { AssistantContent, FilePart, TextPart, ToolCallPart } from 'ai';

type ReasoningPart = Extract<AssistantContent[number], { type: 'reasoning' }>;

/** One part of what a model said, as the next request tells it back. */
export type StepContent = TextPart | ReasoningPart | ToolCallPart | FilePart;

/** Told of everything the model says, while it says it. */
export interface StepListener {
  /** A block of text begins; its text comes in pieces, which may end in the middle of a character. */
  textBegins(): void;
  text(piece: string): void;
  /** A whole thought. */
  thinking(text: string): void;
}

export interface Answer {
  /** Takes in the next part of the stream. */
  add(part: LanguageModelV4StreamPart): void;
  /**
   * What was said so far, in the order in which the model began it, as far as providers take it back: they refuse
   * empty texts, and thoughts that led to nothing.
   */
  content(): StepContent[];
}

/**
 * Puts a model's stream together. Blocks may overlap, so each is kept by its id. What the provider attaches to a
 * block stays with it, the newest in place of the older: without the signature of a thought, which comes at its end,
 * providers refuse the next request.
 */
export function createAnswer(listener: StepListener): Answer {
  const content: StepContent[] = [];
  const texts = new Map<string, TextPart>();
  const thoughts = new Map<string, ReasoningPart>();

  function begin<Part extends StepContent>(part: Part): Part {
    content.push(part);
    return part;
  }

  function textOf(id: string): TextPart {
    const known = texts.get(id);
    if (known) return known;
    const fresh = begin<TextPart>({ type: 'text', text: '' });
    texts.set(id, fresh);
    listener.textBegins();
    return fresh;
  }

  function thoughtOf(id: string): ReasoningPart {
    const known = thoughts.get(id);
    if (known) return known;
    const fresh = begin<ReasoningPart>({ type: 'reasoning', text: '' });
    thoughts.set(id, fresh);
    return fresh;
  }

  return {
    add(part) {
      switch (part.type) {
        case 'text-start':
          attach(textOf(part.id), part.providerMetadata);
          break;
        case 'text-delta': {
          const text = textOf(part.id);
          text.text += part.delta;
          attach(text, part.providerMetadata);
          listener.text(part.delta);
          break;
        }
        case 'text-end':
          attach(textOf(part.id), part.providerMetadata);
          texts.delete(part.id);
          break;
        case 'reasoning-start':
          attach(thoughtOf(part.id), part.providerMetadata);
          break;
        case 'reasoning-delta': {
          const thought = thoughtOf(part.id);
          thought.text += part.delta;
          attach(thought, part.providerMetadata);
          break;
        }
        case 'reasoning-end': {
          const thought = thoughtOf(part.id);
          attach(thought, part.providerMetadata);
          thoughts.delete(part.id);
          if (thought.text !== '') listener.thinking(thought.text);
          break;
        }
        case 'tool-call':
          // What the provider runs itself is not for us to answer.
          if (!part.providerExecuted) begin(toolCall(part));
          break;
        case 'file':
          begin(file(part));
          break;
      }
    },
    content() {
      const said = content.filter((part) => part.type !== 'text' || part.text !== '');
      return said.slice(0, said.findLastIndex(({ type }) => type !== 'reasoning') + 1);
    },
  };
}

function attach(part: StepContent, metadata: SharedV4ProviderMetadata | undefined): void {
  if (metadata) part.providerOptions = metadata;
}

function toolCall({ toolCallId, toolName, input, providerMetadata }: LanguageModelV4ToolCall): ToolCallPart {
  const part: ToolCallPart = { type: 'tool-call', toolCallId, toolName, input: inputOf(input) };
  attach(part, providerMetadata);
  return part;
}

/**
 * The input of a call. Providers take back only objects, so a text that is none is kept as the member of one, which
 * the tool then refuses in its own words.
 */
function inputOf(text: string): object {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {}
  return { invalid_json: text };
}

function file({ data, mediaType, providerMetadata }: LanguageModelV4File): FilePart {
  const part: FilePart = { type: 'file', data: dataOf(data), mediaType };
  attach(part, providerMetadata);
  return part;
}

/** As text, so that it can be kept in JSON. */
function dataOf(data: LanguageModelV4File['data']): string {
  if (data.type === 'url') return data.originalUrl ?? data.url.href;
  return typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64');
}
