import type { EventData } from '../../lib/events.ts';
import type { UiChunk } from './chunks.ts';
import { shownOutput } from './stored-parts.ts';

/** While a tool runs, this many of the last characters of its output are shown. */
const PREVIEW_CHARS = 4_000;
/** Decisions after which the call goes on, and its result is shown. A tool also goes on without the input that it asked for. */
const APPROVING = new Set(['allow', 'retry', 'mark_done', 'accept', 'decline', 'cancel']);

interface ToolCall {
  toolCallId: string;
  toolName: string;
  input: unknown;
  progress: string;
  /** The most recent approval request for this call. */
  request: UiChunk[];
  answer: UiChunk[];
  denied: boolean;
  /** The client answers the call. */
  isClient: boolean;
}

/** The tool calls of a turn that have no result yet, and their approval requests. */
export class ToolCalls {
  readonly #partsUrl: string;
  readonly #open = new Map<string, ToolCall>();
  /** The calls of pending approvals, by approval id. */
  readonly #pending = new Map<string, ToolCall | undefined>();
  /** The pending approvals of the turn itself, by approval id. */
  readonly #own = new Map<string, UiChunk>();

  constructor(partsUrl: string) {
    this.#partsUrl = partsUrl;
  }

  /** Whether an approval is pending or a call is not answered. */
  get waiting(): boolean {
    return this.#pending.size > 0 || [...this.#open.values()].some(({ isClient }) => isClient);
  }

  used({ tool_use_id: toolCallId, name: toolName, input, kind }: EventData<'agent.tool_use'>): UiChunk[] {
    const state = { progress: '', request: [], answer: [], denied: false };
    const call = { toolCallId, toolName, input, ...state, isClient: kind !== undefined };
    this.#open.set(toolCallId, call);
    return [inputOf(call)];
  }

  dispatched({ tool_use_id }: EventData<'agent.tool_dispatched'>): UiChunk[] {
    const call = this.#open.get(tool_use_id);
    if (call) call.progress = '';
    return [];
  }

  progress({ tool_use_id, output_delta }: EventData<'agent.tool_progress'>): UiChunk[] {
    const call = this.#open.get(tool_use_id);
    if (!call) return [];
    call.progress = (call.progress + output_delta).slice(-PREVIEW_CHARS);
    return previewOf(call);
  }

  ended({ tool_use_id, output, is_error, edited_input }: EventData<'agent.tool_result'>): UiChunk[] {
    const call = this.#open.get(tool_use_id);
    // The denial of the call has been shown already.
    if (!call || !this.#open.delete(tool_use_id) || call.denied) return [];
    const { toolCallId } = call;
    const edited = edited_input === undefined ? [] : [inputOf({ ...call, input: edited_input })];
    if (!is_error) {
      const shown = shownOutput(output, this.#partsUrl);
      return [...edited, { type: 'tool-output-available', toolCallId, output: shown, ...dynamicOf(call) }];
    }
    const errorText = typeof output === 'string' ? output : JSON.stringify(output);
    return [...edited, { type: 'tool-output-error', toolCallId, errorText, ...dynamicOf(call) }];
  }

  requested(request: EventData<'approval.requested'>): UiChunk[] {
    const { approval_id: approvalId, kind, tool_use_id = '', details } = request;
    const call = this.#open.get(tool_use_id);
    this.#pending.set(approvalId, call);
    const data = details && { approval_id: approvalId, kind, details };
    const shown: UiChunk[] = data ? [{ type: 'data-approval', id: approvalId, data }] : [];
    if (!call) {
      for (const chunk of shown) this.#own.set(approvalId, chunk);
      return shown;
    }
    const { toolCallId } = call;
    const reason = kind === 'tool' ? {} : { reason: kind };
    call.request = [{ type: 'tool-approval-request', approvalId, toolCallId, ...reason }, ...shown];
    call.answer = [];
    const hasPreview = call.progress !== '';
    call.progress = '';
    // The repeated input removes the preview of the output, which would stay visible beside the approval request.
    return [...(hasPreview ? [inputOf(call)] : []), ...call.request];
  }

  decided({ approval_id: approvalId, decision, reason }: EventData<'approval.decided'>): UiChunk[] {
    const call = this.#pending.get(approvalId);
    this.#pending.delete(approvalId);
    this.#own.delete(approvalId);
    if (!call) return [];
    const approved = APPROVING.has(decision);
    const withReason = reason === undefined ? {} : { reason };
    call.answer = [{ type: 'tool-approval-response', approvalId, approved, ...withReason }];
    if (approved) return call.answer;
    call.denied = true;
    call.answer.push({ type: 'tool-output-denied', toolCallId: call.toolCallId });
    return call.answer;
  }

  /** For a client that reconnects: the state of the calls without a result, and what the turn itself waits for. */
  reopen(): UiChunk[] {
    const calls = [...this.#open.values()].flatMap((call) => [
      inputOf(call),
      ...call.request,
      ...call.answer,
      ...previewOf(call),
    ]);
    return [...calls, ...this.#own.values()];
  }
}

function inputOf(call: ToolCall): UiChunk {
  const { toolCallId, toolName, input } = call;
  return { type: 'tool-input-available', toolCallId, toolName, input, ...dynamicOf(call) };
}

/** AI SDK calls `onToolCall` for tools that are not dynamic. */
function dynamicOf({ isClient }: ToolCall): { dynamic?: true } {
  return isClient ? {} : { dynamic: true };
}

function previewOf({ toolCallId, progress: output }: ToolCall): UiChunk[] {
  if (output === '') return [];
  return [{ type: 'tool-output-available', toolCallId, output, dynamic: true, preliminary: true }];
}
