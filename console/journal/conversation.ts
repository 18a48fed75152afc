import { replaceEqualDeep } from '@tanstack/react-query';
import { type ChatSection, chatOfEvents } from './chat.ts';
import type { ChatItem, ChatMessage } from './chat-items.ts';
import type { DurableEvent } from './event.ts';
import { callKey, type MessageDraft } from './view.ts';

/** The loaded events of a conversation and its partial output. */
export interface ConversationSource {
  events: readonly DurableEvent[];
  drafts: readonly MessageDraft[];
  /** Output of running tools, by `callKey`. */
  progress: ReadonlyMap<string, string>;
}

/**
 * Derives the conversation of a session. An item that has not changed since the last read is the same object, so that it is
 * not rendered again. Partial output does not read the durable events again.
 */
export class Conversation {
  #events: readonly DurableEvent[] = [];
  #section: ChatSection = { items: [], queued: [] };
  #itemsByKey = new Map<string, ChatItem>();
  /** The drafts, the queued messages and the calls with partial output. */
  #changingByKey = new Map<string, ChatItem>();

  /** Returns the items of the conversation. The array `events` must not change after the call. */
  read({ events, drafts, progress }: ConversationSource): ChatItem[] {
    if (events !== this.#events) this.#readEvents(events);
    const changing = new Map<string, ChatItem>();
    const change = (item: ChatItem): ChatItem => {
      const reused = replaceEqualDeep(this.#changingByKey.get(item.key), item);
      changing.set(item.key, reused);
      return reused;
    };
    const withProgress = (item: ChatItem): ChatItem => {
      const text = item.kind === 'call' && progress.get(callKey(item.turnId, item.toolUseId));
      return text ? change({ ...item, progress: text }) : item;
    };
    const { items, queued } = this.#section;
    const all = [
      ...(progress.size > 0 ? items.map(withProgress) : items),
      ...[...drafts.map(draftItem), ...queued].map(change),
    ];
    this.#changingByKey = changing;
    return all;
  }

  #readEvents(events: readonly DurableEvent[]): void {
    const { items, queued } = chatOfEvents(events);
    const reused = items.map((item) => replaceEqualDeep(this.#itemsByKey.get(item.key), item));
    this.#events = events;
    this.#section = { items: reused, queued };
    this.#itemsByKey = new Map(reused.map((item) => [item.key, item]));
  }
}

function draftItem({ messageId, turnId, text, seq, createdAt }: MessageDraft): ChatMessage {
  const actor = { type: 'agent' as const, id: '' };
  return {
    kind: 'agent',
    key: messageId,
    seq,
    createdAt,
    text,
    storedParts: [],
    otherParts: [],
    output: undefined,
    isDraft: true,
    isQueued: false,
    isPinned: false,
    deliveredStep: undefined,
    turnId,
    messageId,
    actor,
    sender: undefined,
  };
}
