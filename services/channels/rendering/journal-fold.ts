import type { EventType } from '../../../lib/event-types.ts';
import type { EventData } from '../../../lib/events.ts';
import { newTurn, type ToolCallView, type TurnView } from './turn-view.ts';

/** The events that the fold reads. Others need not be read. */
export const FOLDED_TYPES = [
  'turn.queued',
  'turn.started',
  'turn.blocked',
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'turn.cancelled',
  'session.status_idle',
  'user.message',
  'agent.message',
  'agent.message_delta',
  'agent.message_discarded',
  'agent.tool_use',
  'agent.tool_result',
  'approval.requested',
  'approval.decided',
  'file.created',
  'file.modified',
  'file.deleted',
] as const satisfies readonly EventType[];

type Folded = (typeof FOLDED_TYPES)[number];

/** An event of the journal, as far as the fold reads it. */
export type JournalEvent = {
  [Type in Folded]: {
    seq: number;
    type: Type;
    turn_id?: string;
    actor: { type: string; id: string };
    data: EventData<Type> & {
      sender?: { provider: string; external_id: string; name: string };
      via?: string;
    };
  };
}[Folded];

const OUTBOX = 'outbox/';
const FINAL = {
  'turn.completed': 'completed',
  'turn.failed': 'failed',
  'turn.interrupted': 'interrupted',
  'turn.cancelled': 'cancelled',
} as const;

/**
 * The state of a conversation, folded from the events after a seq. A turn whose turn.queued event is not among them was told
 * before, and its further events are ignored.
 */
export class JournalFold {
  readonly #turns = new Map<string, TurnView>();
  /** Names of senders by provider:id. */
  readonly #names = new Map<string, string>();
  /** The turn that has started last. */
  #current: TurnView | undefined;
  #previous: TurnView | undefined;

  /** The turns in the order in which they were queued. */
  get turns(): Iterable<TurnView> {
    return this.#turns.values();
  }

  /** The name of an account that has written in the conversation. */
  nameOf(account: string): string | undefined {
    return this.#names.get(account);
  }

  /** Forgets a turn that has ended. */
  forget(turnId: string): void {
    this.#turns.delete(turnId);
  }

  apply(event: JournalEvent): void {
    const { type, data } = event;
    if (type === 'turn.queued') {
      // A compaction has nothing to tell.
      if (data.kind === undefined) this.#turns.set(data.turn_id, newTurn(data.turn_id, event.seq));
      return;
    }
    if (type === 'user.message') {
      const { sender } = data;
      if (sender) this.#names.set(`${sender.provider}:${sender.external_id}`, sender.name);
      return;
    }
    if (type === 'session.status_idle') {
      const end = this.#current?.end;
      if (end && data.stop_reason.type !== 'requires_action') end.stopReason = data.stop_reason.type;
      return;
    }
    if (type === 'file.created' || type === 'file.modified' || type === 'file.deleted') {
      // Users and clients of protocols write files as well.
      if (event.actor.type === 'agent') this.#changeFile(event);
      return;
    }
    const turn = this.#turnOf(event);
    if (turn) this.#changeTurn(turn, event);
  }

  #turnOf(event: JournalEvent): TurnView | undefined {
    const { data } = event;
    const turnId = 'turn_id' in data && typeof data.turn_id === 'string' ? data.turn_id : event.turn_id;
    return turnId === undefined ? undefined : this.#turns.get(turnId);
  }

  #changeTurn(turn: TurnView, event: JournalEvent): void {
    switch (event.type) {
      case 'turn.started':
        turn.status = 'running';
        if (this.#current !== turn) this.#previous = this.#current;
        this.#current = turn;
        return;
      case 'turn.blocked':
        turn.status = 'blocked';
        return;
      case 'turn.completed':
      case 'turn.failed':
      case 'turn.interrupted':
      case 'turn.cancelled': {
        const error = event.type === 'turn.failed' ? event.data.error : undefined;
        turn.status = 'ended';
        turn.end = { status: FINAL[event.type], error, stopReason: undefined };
        return;
      }
      case 'agent.message_delta':
        textOf(turn, event.data.message_id).text += event.data.delta;
        return;
      case 'agent.message_discarded':
        turn.texts = turn.texts.filter(({ messageId }) => messageId !== event.data.message_id);
        return;
      case 'agent.message': {
        const texts = event.data.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
        textOf(turn, event.data.message_id).text = texts.join('');
        return;
      }
      case 'agent.tool_use': {
        const { tool_use_id: toolUseId, name, input, kind } = event.data;
        const known = turn.tools.find((tool) => tool.toolUseId === toolUseId);
        const tool: ToolCallView = { toolUseId, name, input, state: 'open', kind };
        if (known) Object.assign(known, tool);
        else turn.tools.push(tool);
        return;
      }
      case 'agent.tool_result': {
        const tool = turn.tools.find(({ toolUseId }) => toolUseId === event.data.tool_use_id);
        if (tool) tool.state = event.data.is_error ? 'failed' : 'done';
        turn.workspaceVersion = Math.max(turn.workspaceVersion, event.data.workspace_version ?? 0);
        return;
      }
      case 'approval.requested': {
        const { approval_id: approvalId, kind, tool_name: toolName = '', details } = event.data;
        const { tool_use_id: first, tool_use_ids: all = first === undefined ? [] : [first] } = event.data;
        const { name = '', reason = '', message = '' } = details ?? { name: '' };
        const open = { decision: undefined, decidedBy: '', via: '' };
        const shown = { name, reason, message };
        turn.approvals.push({ approvalId, kind, toolName, toolUseIds: all, details: shown, ...open });
        return;
      }
      case 'approval.decided': {
        const approval = turn.approvals.find((one) => one.approvalId === event.data.approval_id);
        if (!approval) return;
        approval.decision = event.data.decision;
        approval.decidedBy = event.data.by;
        approval.via = event.data.via ?? '';
        return;
      }
    }
  }

  /** Events of files name no turn and may come after its end. The workspace version of a tool result shows the turn. */
  #changeFile({
    type,
    data,
  }: Extract<JournalEvent, { type: 'file.created' | 'file.modified' | 'file.deleted' }>): void {
    const { path, workspace_version: version } = data;
    if (!path.startsWith(OUTBOX)) return;
    const isOfPrevious = this.#previous !== undefined && version <= this.#previous.workspaceVersion;
    const turn = isOfPrevious ? this.#previous : this.#current;
    if (!turn || !this.#turns.has(turn.turnId)) return;
    if (type === 'file.deleted') turn.files.delete(path);
    else if ('sha256' in data) {
      const { sha256, size } = data;
      turn.files.set(path, { path, sha256, size, version });
    }
  }
}

function textOf(turn: TurnView, messageId: string): { text: string } {
  const known = turn.texts.find((text) => text.messageId === messageId);
  if (known) return known;
  const created = { messageId, text: '' };
  turn.texts.push(created);
  return created;
}
