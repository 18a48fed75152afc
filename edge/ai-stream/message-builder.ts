import type { ApprovalChunk, UiChunk } from './chunks.ts';
import type { UiFile } from './stored-parts.ts';

interface TextUiPart {
  type: 'text' | 'reasoning';
  /** Only of reasoning. */
  id?: string;
  text: string;
  state?: 'streaming' | 'done';
}

interface ToolUiPart {
  /** `tool-<name>` for a tool that the client runs. */
  type: 'dynamic-tool' | `tool-${string}`;
  /** Only of `dynamic-tool`. */
  toolName?: string;
  toolCallId: string;
  state: string;
  input: unknown;
  output?: unknown;
  errorText?: string | undefined;
  preliminary?: true | undefined;
  approval?: { id: string; approved?: boolean; reason?: string; requestReason?: string };
}

/** A part of a UIMessage (https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message). */
type UiPart = TextUiPart | ToolUiPart | UiFile | ApprovalChunk | { type: 'step-start' };

/** A message as `useChat` keeps it. */
export interface UiMessage {
  id: string;
  role: 'user' | 'assistant';
  parts: UiPart[];
}

/** Builds the message that AI SDK builds of the same chunks. */
export class MessageBuilder {
  readonly #parts: UiPart[] = [];
  readonly #open = new Map<string, TextUiPart>();

  get parts(): UiPart[] {
    return this.#parts;
  }

  add(chunk: UiChunk): void {
    switch (chunk.type) {
      case 'start-step':
        this.#parts.push({ type: 'step-start' });
        return;
      case 'text-start':
        this.#start('text', chunk.id);
        return;
      case 'reasoning-start':
        this.#start('reasoning', chunk.id);
        return;
      case 'text-delta':
      case 'reasoning-delta': {
        const part = this.#open.get(chunk.id);
        if (part) part.text += chunk.delta;
        return;
      }
      case 'text-end':
      case 'reasoning-end': {
        const part = this.#open.get(chunk.id);
        if (part) part.state = 'done';
        this.#open.delete(chunk.id);
        return;
      }
      case 'reset-step':
        this.#parts.splice(this.#parts.findLastIndex(({ type }) => type === 'step-start') + 1);
        this.#open.clear();
        return;
      case 'file': {
        const { type, ...file } = chunk;
        this.#parts.push({ type, ...file });
        return;
      }
      case 'data-approval': {
        const shown = this.#parts.findIndex((part) => part.type === chunk.type && part.id === chunk.id);
        if (shown < 0) this.#parts.push({ ...chunk });
        else this.#parts[shown] = { ...chunk };
        return;
      }
      default:
        this.#changeTool(chunk);
    }
  }

  #start(type: TextUiPart['type'], id: string): void {
    const part: TextUiPart = { type, ...(type === 'reasoning' && { id }), text: '', state: 'streaming' };
    this.#open.set(id, part);
    this.#parts.push(part);
  }

  #changeTool(chunk: UiChunk): void {
    switch (chunk.type) {
      case 'tool-input-available': {
        const { toolCallId, toolName, input, dynamic } = chunk;
        const name = dynamic
          ? ({ type: 'dynamic-tool', toolName } as const)
          : ({ type: `tool-${toolName}` } as const);
        const call = this.#call(toolCallId);
        if (call) replaceResult(call, { state: 'input-available', input });
        else this.#parts.push({ ...name, toolCallId, state: 'input-available', input });
        return;
      }
      case 'tool-output-available': {
        const { toolCallId, output, preliminary } = chunk;
        replaceResult(this.#call(toolCallId), { state: 'output-available', output, preliminary });
        return;
      }
      case 'tool-output-error':
        replaceResult(this.#call(chunk.toolCallId), {
          state: 'output-error',
          errorText: chunk.errorText,
        });
        return;
      case 'tool-output-denied':
        change(this.#call(chunk.toolCallId), { state: 'output-denied' });
        return;
      case 'tool-approval-request': {
        const requestReason = chunk.reason === undefined ? {} : { requestReason: chunk.reason };
        const approval = { id: chunk.approvalId, ...requestReason };
        change(this.#call(chunk.toolCallId), { state: 'approval-requested', approval });
        return;
      }
      case 'tool-approval-response': {
        const { approvalId, approved } = chunk;
        const call = this.#parts.find(
          (part): part is ToolUiPart => 'toolCallId' in part && part.approval?.id === approvalId,
        );
        const reason = chunk.reason === undefined ? {} : { reason: chunk.reason };
        const approval = { ...call?.approval, id: approvalId, approved, ...reason };
        change(call, { state: 'approval-responded', approval });
        return;
      }
    }
  }

  #call(toolCallId: string): ToolUiPart | undefined {
    return this.#parts.findLast(
      (part): part is ToolUiPart => 'toolCallId' in part && part.toolCallId === toolCallId,
    );
  }
}

function replaceResult(call: ToolUiPart | undefined, result: Partial<ToolUiPart>): void {
  change(call, { output: undefined, errorText: undefined, preliminary: undefined, ...result });
}

function change(call: ToolUiPart | undefined, members: Partial<ToolUiPart>): void {
  if (call) Object.assign(call, members);
}
