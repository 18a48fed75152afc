import type { ApprovalDetails, TurnUsage } from '../gen/types.gen.ts';
import type { CompactionData } from './compaction-text.ts';
import type { DurableEvent, EventOf } from './event.ts';
import type { StoredPart } from './stored-part.ts';

export interface ChatMessage {
  kind: 'user' | 'agent' | 'thinking';
  key: string;
  seq: number;
  createdAt: string;
  text: string;
  /** Images and files. */
  storedParts: StoredPart[];
  /** Content parts of other types, shown as JSON. */
  otherParts: unknown[];
  /** The structured output of an answer. Undefined for a text. */
  output: unknown;
  /** The message is still being streamed. */
  isDraft: boolean;
  /** The message was sent during an active turn. Its own turn starts after that one. */
  isQueued: boolean;
  /** The model always gets the message, also when older ones are replaced by a summary. */
  isPinned: boolean;
  /** The step of a running turn that got the message. Undefined for a message with a turn of its own. */
  deliveredStep: number | undefined;
  turnId: string | undefined;
  /** Identifies the message in its deltas. User messages have none. */
  messageId: string | undefined;
  /** The author of the message. */
  actor: DurableEvent['actor'];
  /** The person who has written the message in a messaging product. */
  sender: EventOf<'user.message'>['data']['sender'];
}

type ApprovalData = EventOf<'approval.requested'>['data'];

export interface ApprovalRequest {
  approvalId: string;
  kind: ApprovalData['kind'];
  /** The server and what it needs. Undefined for the kinds without details. */
  details: ApprovalDetails | undefined;
  /** An earlier call has the same approval, and shows its form. */
  isShared: boolean;
  expiresAt: string;
  decision: string | undefined;
  reason: string | undefined;
  /** usr_… of the user who has decided, and the account in a messaging product. Undefined for a decision elsewhere. */
  channel: { by: string; via: string } | undefined;
}

export interface ToolCall {
  kind: 'call';
  key: string;
  seq: number;
  createdAt: string;
  turnId: string | undefined;
  toolUseId: string;
  name: string;
  input: unknown;
  /** The input that the tool received, when the approval changed `input`. */
  editedInput: unknown;
  permission: string;
  /** A client runs the tool (`tool_result`) or a person answers (`input`). Undefined for a tool that the service runs. */
  answerKind: 'tool_result' | 'input' | undefined;
  state: 'awaiting_approval' | 'awaiting_answer' | 'waiting' | 'running' | 'done' | 'failed';
  output: unknown;
  /** Output printed so far. */
  progress: string;
  durationMs: number | undefined;
  /** Exit code of a command; undefined for a command that was killed and for other tools. */
  exitCode: number | undefined;
  /** The MCP server whose text the output is. */
  mcpServer: string | undefined;
  /** Parts of a text output that were printed to stderr, in UTF-16 units. */
  stderrRanges: readonly { start: number; end: number }[];
  approval: ApprovalRequest | undefined;
}

/** The approval of a turn that waits for the model key of its agent. */
export interface TurnAuthorization {
  kind: 'authorization';
  key: string;
  seq: number;
  createdAt: string;
  turnId: string | undefined;
  /** Decided, also when the turn has ended. */
  approval: ApprovalRequest;
}

export interface Notice {
  kind: 'notice';
  key: string;
  seq: number;
  /** Sequence number of the last event that the notice describes. */
  lastSeq: number;
  createdAt: string;
  tone: 'plain' | 'warn' | 'bad';
  text: string;
}

/** A change of what the model gets of the conversation. */
export interface Compaction {
  kind: 'compaction';
  key: string;
  seq: number;
  createdAt: string;
  data: CompactionData;
}

export interface TurnEnd {
  kind: 'end';
  key: string;
  seq: number;
  createdAt: string;
  turnId: string | undefined;
  outcome: 'completed' | 'failed' | 'interrupted' | 'cancelled';
  /** The turn has no message: a user has asked for a compaction. Undefined for other turns. */
  compaction: 'compacted' | 'unchanged' | undefined;
  error: { code: string; message: string } | undefined;
  usage: TurnUsage | undefined;
}

/** Consecutive uploads by users. */
export interface Upload {
  kind: 'upload';
  key: string;
  seq: number;
  lastSeq: number;
  createdAt: string;
  fileCount: number;
  bytes: number;
  /** The first files. */
  files: { path: string; size: number }[];
}

/** Consecutive file changes by tools, and by users outside of uploads. */
export interface FileChanges {
  kind: 'files';
  key: string;
  seq: number;
  lastSeq: number;
  createdAt: string;
  files: { seq: number; path: string; change: 'created' | 'modified' | 'deleted' }[];
}

export type ChatItem =
  | ChatMessage
  | ToolCall
  | TurnAuthorization
  | Notice
  | Compaction
  | TurnEnd
  | Upload
  | FileChanges;
