/* Which session and turn the keys of chats stand for. Keys of deleted sessions are unknown. */

export interface ChatKey {
  /** usr_… */
  ownerId: string;
  /** A SHA-256 digest. */
  key: Buffer;
}

/** What a key stands for. */
export interface ChatTurn {
  sessionId: string;
  turnId: string;
}

export interface RecordedChat extends ChatTurn {
  key: Buffer;
  agentId: string;
}
