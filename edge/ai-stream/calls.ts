import type { EventData } from '../../lib/events.ts';
import type { Chunk } from './chunks.ts';

/** Characters of a tool's output that are shown while it runs: its end. */
const PREVIEW_CHARS = 4_000;
const APPROVING = new Set(['allow', 'retry', 'mark_done']);

interface Call {
  toolCallId: string;
  toolName: string;
  input: unknown;
  progress: string;
  /** Of the newest question about it. */
  request: Chunk | undefined;
  answer: Chunk[];
  denied: boolean;
}

/** The tool calls of a turn that have no result yet, and what people are asked about them. */
export class Calls {
  readonly #open = new Map<string, Call>();
  /** The call that a question is about. */
  readonly #asked = new Map<string, Call | undefined>();

  /** Whether somebody has to decide. */
  get waiting(): boolean {
    return this.#asked.size > 0;
  }

  used({ tool_use_id: toolCallId, name: toolName, input }: EventData<'agent.tool_use'>): Chunk[] {
    const call = { toolCallId, toolName, input, progress: '', request: undefined, answer: [], denied: false };
    this.#open.set(toolCallId, call);
    return [inputOf(call)];
  }

  dispatched({ tool_use_id }: EventData<'agent.tool_dispatched'>): Chunk[] {
    const call = this.#open.get(tool_use_id);
    if (call) call.progress = '';
    return [];
  }

  progress({ tool_use_id, output_delta }: EventData<'agent.tool_progress'>): Chunk[] {
    const call = this.#open.get(tool_use_id);
    if (!call) return [];
    call.progress = (call.progress + output_delta).slice(-PREVIEW_CHARS);
    return previewOf(call);
  }

  ended({ tool_use_id, output, is_error, edited_input }: EventData<'agent.tool_result'>): Chunk[] {
    const call = this.#open.get(tool_use_id);
    // A call that was denied has been shown as such.
    if (!call || !this.#open.delete(tool_use_id) || call.denied) return [];
    const { toolCallId } = call;
    const edited = edited_input === undefined ? [] : [inputOf({ ...call, input: edited_input })];
    if (!is_error) return [...edited, { type: 'tool-output-available', toolCallId, output, dynamic: true }];
    const errorText = typeof output === 'string' ? output : JSON.stringify(output);
    return [...edited, { type: 'tool-output-error', toolCallId, errorText, dynamic: true }];
  }

  requested({ approval_id: approvalId, kind, tool_use_id = '' }: EventData<'approval.requested'>): Chunk[] {
    const call = this.#open.get(tool_use_id);
    this.#asked.set(approvalId, call);
    if (!call) return [];
    const { toolCallId } = call;
    const reason = kind === 'tool' ? {} : { reason: kind };
    call.request = { type: 'tool-approval-request', approvalId, toolCallId, ...reason };
    call.answer = [];
    const shown = call.progress !== '';
    call.progress = '';
    // A preview of the output would stay beside the question.
    return [...(shown ? [inputOf(call)] : []), call.request];
  }

  decided({ approval_id: approvalId, decision, reason }: EventData<'approval.decided'>): Chunk[] {
    const call = this.#asked.get(approvalId);
    this.#asked.delete(approvalId);
    if (!call) return [];
    const approved = APPROVING.has(decision);
    const said = reason === undefined ? {} : { reason };
    call.answer = [{ type: 'tool-approval-response', approvalId, approved, ...said }];
    if (approved) return call.answer;
    call.denied = true;
    call.answer.push({ type: 'tool-output-denied', toolCallId: call.toolCallId });
    return call.answer;
  }

  /** For a reader who comes back: what is known of the calls without a result. */
  reopen(): Chunk[] {
    return [...this.#open.values()].flatMap((call) => [
      inputOf(call),
      ...(call.request ? [call.request] : []),
      ...call.answer,
      ...previewOf(call),
    ]);
  }
}

function inputOf({ toolCallId, toolName, input }: Call): Chunk {
  return { type: 'tool-input-available', toolCallId, toolName, input, dynamic: true };
}

function previewOf({ toolCallId, progress: output }: Call): Chunk[] {
  if (output === '') return [];
  return [{ type: 'tool-output-available', toolCallId, output, dynamic: true, preliminary: true }];
}
