import type { Actor } from '../../../lib/events.ts';
import { whose } from './begin.ts';
import { type Draft, draft } from './change.ts';

/** An event of a history, as far as checkpoints go. */
export interface HistoryEvent {
  seq: number;
  type: string;
  data: {
    content?: readonly { type?: string; toolCallId?: string }[];
    tool_use_id?: string;
    workspace_version?: number;
  };
}

/**
 * Finds the last place in a history at which no tool call lacks its result: a model can be asked to go on from
 * there. Told the events in order, it knows the seq of the checkpoint so far; 0 is the beginning.
 */
export class Checkpoint {
  seq = 0;
  /** The version of the workspace there. */
  workspaceVersion = 0;
  readonly #open = new Set<string>();
  #newest = 0;

  pass({ seq, type, data }: HistoryEvent): void {
    if (type === 'agent.message') {
      // The model went on, so what came before is settled, whatever its turn came to.
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

export interface Forking {
  agentId: string;
  agentVersion: number;
  fromSessionId: string;
  fromSeq: number;
  actor: Actor;
  traceparent: string | undefined;
}

/** The first events of a fork; those of the history follow. */
export function fork({ actor, traceparent, ...from }: Forking): Draft[] {
  const { fromSessionId, fromSeq } = from;
  const place = { traceparent };
  return [
    draft('session.created', { source: 'fork', ...whose(from) }, actor, place),
    draft('session.forked', { from_session_id: fromSessionId, from_seq: fromSeq }, actor, place),
  ];
}
