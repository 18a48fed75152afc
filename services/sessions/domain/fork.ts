import type { Actor } from '../../../lib/event-parts.ts';
import { draft, type EventDraft } from './change.ts';
import { agentReference } from './create.ts';

/** The fields of a history event that determine checkpoints. */
interface HistoryEvent {
  seq: number;
  type: string;
  data: {
    content?: readonly { type?: string; toolCallId?: string }[];
    tool_use_id?: string;
    workspace_version?: number;
  };
}

/**
 * Finds the last checkpoint of a history: an event after which every tool call has its result, so that a model can go
 * on from there. Events are added in order.
 */
export class CheckpointScan {
  /** Seq of the checkpoint. 0 is the beginning of the history. */
  seq = 0;
  /** Version of the workspace at the checkpoint. */
  workspaceVersion = 0;
  readonly #open = new Set<string>();
  #newest = 0;

  add({ seq, type, data }: HistoryEvent): void {
    if (type === 'agent.message') {
      // The model went on, so the calls of earlier messages no longer count.
      this.#open.clear();
      for (const { type: part, toolCallId } of data.content ?? []) {
        if (part === 'tool-call' && toolCallId !== undefined) this.#open.add(toolCallId);
      }
    }
    if (type === 'agent.tool_result' && data.tool_use_id !== undefined) this.#open.delete(data.tool_use_id);
    this.#newest = Math.max(this.#newest, data.workspace_version ?? 0);
    if (this.#open.size > 0) return;
    this.seq = seq;
    this.workspaceVersion = this.#newest;
  }
}

export interface ForkOrigin {
  agentId: string;
  agentVersion: number;
  fromSessionId: string;
  fromSeq: number;
  actor: Actor;
  traceparent: string | undefined;
}

/** The first events of a fork. The copied history follows them. */
export function forkDrafts({ actor, traceparent, ...from }: ForkOrigin): EventDraft[] {
  const { fromSessionId, fromSeq } = from;
  const trace = { traceparent };
  return [
    draft('session.created', { source: 'fork', ...agentReference(from) }, actor, trace),
    draft('session.forked', { from_session_id: fromSessionId, from_seq: fromSeq }, actor, trace),
  ];
}
