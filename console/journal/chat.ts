import type { ChatItem, ChatMessage, Notice, ToolCall, TurnAuthorization, TurnEnd } from './chat-items.ts';
import type { DurableEvent, EventOf } from './event.ts';
import { fileEventFolder } from './file-changes.ts';
import { retriesOf, retrySummary } from './retries.ts';
import { isStoredPart, type StoredPart } from './stored-part.ts';
import { callKey } from './view.ts';

export type {
  ApprovalRequest,
  ChatItem,
  ChatMessage,
  Compaction,
  FileChanges,
  Notice,
  ToolCall,
  TurnAuthorization,
  TurnEnd,
  Upload,
} from './chat-items.ts';

/** The conversation that durable events describe. */
export interface ChatSection {
  items: ChatItem[];
  /** Messages whose turns have not started. They follow all other items. */
  queued: ChatMessage[];
}

/**
 * Derives the conversation from durable events. A message sent during another turn appears where its own turn starts, so that
 * each reply follows the message it answers.
 */
export function chatOfEvents(events: readonly DurableEvent[]): ChatSection {
  const items: ChatItem[] = [];
  const calls = new Map<string, ToolCall>();
  /** Calls of turns that have not ended. */
  const pendingCalls = new Set<ToolCall>();
  const callsByApproval = new Map<string, ToolCall[]>();
  const authorizations = new Map<string, TurnAuthorization>();
  const discardedMessageIds = new Set<string>();
  for (const { type, data } of events)
    if (type === 'agent.message_discarded') discardedMessageIds.add(data.message_id);
  const queuedTurnIds = new Set<string>();
  for (const { type, turn_id: turnId } of events)
    if (type === 'turn.queued' && turnId) queuedTurnIds.add(turnId);
  const queuedMessages = new Map<string, ChatMessage[]>();
  /** The turns that only compact, and whether they have done so. */
  const compactionTurns = new Map<string, 'compacted' | 'unchanged'>();
  let activeTurnId: string | undefined;
  let isIdle = false;
  const addFileEvent = fileEventFolder(events);
  const retries = new Map(retriesOf(events).flatMap((series) => series.seqs.map((seq) => [seq, series])));
  const callOf = (event: DurableEvent, toolUseId: string) => calls.get(callKey(event.turn_id, toolUseId));

  for (const event of events) {
    const base = { key: event.event_id, seq: event.seq, createdAt: event.created_at };
    const notice = (text: string, tone: Notice['tone'] = 'plain', lastSeq = event.seq) =>
      items.push({ kind: 'notice', ...base, lastSeq, text, tone });
    const { turn_id: turnId = '' } = event;
    if (/^turn\.(started|completed|failed|interrupted|cancelled)$/.test(event.type)) {
      const isRemoved = event.type === 'turn.cancelled' && event.data.reason === 'removed';
      const waiting = queuedMessages.get(turnId) ?? [];
      // The model does not get a message that was removed from the queue.
      items.push(...(isRemoved ? waiting.map((message) => ({ ...message, isPinned: false })) : waiting));
      queuedMessages.delete(turnId);
      queuedTurnIds.delete(turnId);
      // The end of another turn is the removal of a queued one.
      if (event.type === 'turn.started') activeTurnId = turnId;
      else if (activeTurnId === turnId) activeTurnId = undefined;
    }
    switch (event.type) {
      case 'user.message':
        if (queuedTurnIds.has(turnId))
          queuedMessages.set(turnId, [...(queuedMessages.get(turnId) ?? []), ...messagesIn(event)]);
        else items.push(...messagesIn(event));
        break;
      case 'user.message_delivered': {
        const { message_seq: seq, step } = event.data;
        for (const [id, waiting] of queuedMessages) {
          if (!waiting.some((message) => message.seq === seq)) continue;
          items.push(...waiting.map((message) => ({ ...message, deliveredStep: step })));
          queuedMessages.delete(id);
        }
        break;
      }
      case 'agent.message':
        items.push(...messagesIn(event));
        break;
      case 'agent.thinking':
        if (!discardedMessageIds.has(event.data.message_id)) items.push(...messagesIn(event));
        break;
      case 'agent.tool_use': {
        const { tool_use_id: toolUseId, name, input, evaluated_permission: permission, kind } = event.data;
        const call: ToolCall = {
          kind: 'call',
          ...base,
          turnId: event.turn_id,
          toolUseId,
          name,
          input,
          editedInput: undefined,
          permission,
          answerKind: kind,
          state: 'waiting',
          output: undefined,
          progress: '',
          durationMs: undefined,
          exitCode: undefined,
          mcpServer: undefined,
          stderrRanges: [],
          approval: undefined,
        };
        calls.set(callKey(event.turn_id, toolUseId), call);
        pendingCalls.add(call);
        items.push(call);
        break;
      }
      case 'agent.tool_dispatched': {
        const call = callOf(event, event.data.tool_use_id);
        if (call) call.state = 'running';
        break;
      }
      case 'agent.tool_result': {
        const call = callOf(event, event.data.tool_use_id);
        if (!call) break;
        call.state = event.data.is_error ? 'failed' : 'done';
        call.output = event.data.output;
        call.durationMs = event.data.duration_ms;
        call.editedInput = event.data.edited_input;
        call.exitCode = event.data.exit_code;
        call.mcpServer = event.data.mcp_server;
        call.stderrRanges = event.data.stderr_ranges ?? [];
        break;
      }
      case 'agent.context_compacted':
        items.push({ kind: 'compaction', ...base, data: event.data });
        if (compactionTurns.has(turnId)) compactionTurns.set(turnId, 'compacted');
        break;
      case 'approval.requested': {
        const { approval_id: approvalId, kind, expires_at: expiresAt, details } = event.data;
        const undecided = { decision: undefined, reason: undefined, channel: undefined };
        const request = { approvalId, kind, expiresAt, details, ...undecided };
        const { tool_use_id: toolUseId } = event.data;
        if (toolUseId === undefined) {
          const approval = { ...request, isShared: false };
          const item: TurnAuthorization = { kind: 'authorization', ...base, turnId: event.turn_id, approval };
          authorizations.set(approvalId, item);
          items.push(item);
          break;
        }
        const ids = event.data.tool_use_ids ?? [toolUseId];
        const waiting = ids.flatMap((id) => callOf(event, id) ?? []);
        for (const [index, call] of waiting.entries()) {
          call.approval = { ...request, isShared: index > 0 };
          call.state = 'awaiting_approval';
        }
        callsByApproval.set(approvalId, waiting);
        break;
      }
      case 'approval.decided': {
        const { approval_id: approvalId, decision, reason, by, via } = event.data;
        const channel = via === undefined ? undefined : { by, via };
        const own = authorizations.get(approvalId);
        if (own) own.approval = { ...own.approval, decision, reason };
        for (const call of callsByApproval.get(approvalId) ?? []) {
          // A later approval of the call is another one.
          if (call.approval?.approvalId !== approvalId) continue;
          call.approval = { ...call.approval, decision, reason, channel };
          if (call.state === 'awaiting_approval') call.state = 'waiting';
        }
        break;
      }
      case 'turn.queued':
        if (event.data.kind === 'compaction') compactionTurns.set(turnId, 'unchanged');
        if (event.data.replaces_turn_id !== undefined) notice('A new answer replaces the last one.');
        break;
      case 'turn.blocked':
        for (const call of pendingCalls)
          if (call.turnId === event.turn_id && call.state === 'waiting' && call.answerKind !== undefined)
            call.state = 'awaiting_answer';
        break;
      case 'turn.completed':
      case 'turn.failed':
      case 'turn.interrupted':
      case 'turn.cancelled':
        // The turn of a delivered message ends without a run.
        if (event.type === 'turn.completed' && event.data.delivered_to_turn_id !== undefined) break;
        items.push({
          kind: 'end',
          ...base,
          turnId: event.turn_id,
          outcome: event.type.slice('turn.'.length) as TurnEnd['outcome'],
          compaction: compactionTurns.get(turnId),
          error: event.type === 'turn.failed' ? event.data.error : undefined,
          usage: 'usage' in event.data ? event.data.usage : undefined,
        });
        // A call without a result gets none after the end of its turn.
        for (const call of pendingCalls) {
          if (call.turnId !== event.turn_id) continue;
          pendingCalls.delete(call);
          if (isOpen(call)) call.state = 'failed';
        }
        break;
      case 'files.uploaded':
      case 'file.created':
      case 'file.modified':
      case 'file.deleted':
        addFileEvent(items, event);
        break;
      case 'session.error': {
        const series = retries.get(event.seq);
        if (series?.seqs[0] === event.seq) notice(retrySummary(series), 'warn', series.seqs.at(-1));
        break;
      }
      case 'session.status_idle':
        isIdle = true;
        break;
      case 'session.status_pending':
        isIdle = false;
        break;
      case 'session.status_rescheduled':
        if (!retries.has(event.seq))
          notice(`The turn continues automatically: ${event.data.reason}.`, 'warn');
        break;
      case 'session.status_terminated':
        notice(`Session terminated: ${event.data.reason}.`, 'bad');
        break;
      case 'session.forked':
        notice(`Forked from ${event.data.from_session_id}, event ${event.data.from_seq}.`);
        break;
      case 'user.interrupt':
        notice('Interrupted by a user.');
        break;
    }
  }
  // An idle session holds its queue. Otherwise the next turn is about to start.
  const isQueued = activeTurnId !== undefined || isIdle;
  const queued = [...queuedMessages.values()].flat();
  return { items, queued: queued.map((message) => ({ ...message, isQueued })) };
}

const isOpen = ({ state }: ToolCall) => state !== 'done' && state !== 'failed';

type ContentEvent = EventOf<'user.message' | 'agent.message' | 'agent.thinking'>;

function messagesIn(event: ContentEvent): ChatMessage[] {
  const texts: string[] = [];
  const stored: StoredPart[] = [];
  const others: unknown[] = [];
  for (const part of event.data.content) {
    if (part.type === 'text') texts.push(part.text);
    else if (isStoredPart(part)) stored.push(part);
    // Tool calls and reasoning have their own events.
    else if (!['tool-call', 'reasoning', 'tool-result'].includes(part.type)) others.push(part);
  }
  if (texts.length === 0 && stored.length === 0 && others.length === 0) return [];
  return [
    {
      kind: event.type === 'user.message' ? 'user' : event.type === 'agent.message' ? 'agent' : 'thinking',
      // The key of the draft, so that its rendered text stays when the message is complete.
      key: event.type === 'agent.message' ? event.data.message_id : event.event_id,
      seq: event.seq,
      createdAt: event.created_at,
      text: texts.join(''),
      storedParts: stored,
      otherParts: others,
      output: event.type === 'agent.message' ? event.data.output : undefined,
      isDraft: false,
      isQueued: false,
      isPinned: event.type === 'user.message' && event.data.pinned === true,
      deliveredStep: undefined,
      turnId: event.turn_id,
      messageId: event.type === 'user.message' ? undefined : event.data.message_id,
      actor: event.actor,
      sender: event.type === 'user.message' ? event.data.sender : undefined,
    },
  ];
}
