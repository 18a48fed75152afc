import type { ChatItem } from './chat.ts';
import type { JournalEvent } from './event.ts';

/**
 * Returns the conversation item that shows an event: its message, its tool call, the upload or notice that it is part of, or
 * else the item before it. Undefined for an empty conversation.
 */
export function itemShowing(chat: readonly ChatItem[], event: JournalEvent): ChatItem | undefined {
  return (
    chat.find(({ seq }) => seq === event.seq) ??
    chat.find((item) => isPartOf(item, event)) ??
    // Queued messages stand later than their seq, so the position in the list does not follow the seq.
    chat.reduce<ChatItem | undefined>(
      (best, item) => (item.seq < event.seq && item.seq > (best?.seq ?? 0) ? item : best),
      undefined,
    ) ??
    chat[0]
  );
}

function isPartOf(item: ChatItem, { type, seq, turn_id: turnId, data }: JournalEvent): boolean {
  switch (item.kind) {
    case 'user':
    case 'agent':
    case 'thinking':
      return 'message_id' in data && data.message_id === item.messageId && turnId === item.turnId;
    case 'authorization':
      return 'approval_id' in data && data.approval_id === item.approval.approvalId;
    case 'call':
      if ('approval_id' in data) return data.approval_id === item.approval?.approvalId;
      return 'tool_use_id' in data && data.tool_use_id === item.toolUseId && turnId === item.turnId;
    case 'upload':
    case 'files':
    case 'notice':
      return item.seq <= seq && seq <= item.lastSeq && PARTS[item.kind].test(type);
    case 'compaction':
    case 'end':
      return false;
  }
}

const PARTS = {
  upload: /^files?\./,
  files: /^file\./,
  notice: /^(session\.|turn\.started$)/,
};
