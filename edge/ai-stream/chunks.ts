import type { ApprovalDetails } from '../../lib/event-parts.ts';
import type { ApprovalKind } from '../../lib/event-types.ts';

/**
 * The chunks of an AI SDK UI Message Stream, version 1, that this service sends
 * (https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol).
 */
export type UiChunk = MessageChunk | StepChunk | PartChunk | ToolChunk | ApprovalChunk | NoticeChunk;

type MessageChunk =
  | { type: 'start'; messageId: string }
  | { type: 'finish'; finishReason: UiFinishReason }
  | { type: 'abort'; reason: string }
  | { type: 'error'; errorText: string };

/** `reset-step` removes every part since the step began. */
type StepChunk = { type: 'start-step' } | { type: 'finish-step' } | { type: 'reset-step' };

type PartChunk =
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'file'; url: string; mediaType: string };

/** Clients have static definitions only of the tools that they run. The others are `dynamic`. */
type ToolChunk =
  | { type: 'tool-input-available'; toolCallId: string; toolName: string; input: unknown; dynamic?: true }
  | { type: 'tool-approval-request'; approvalId: string; toolCallId: string; reason?: string }
  | { type: 'tool-approval-response'; approvalId: string; approved: boolean; reason?: string }
  | {
      type: 'tool-output-available';
      toolCallId: string;
      output: unknown;
      dynamic?: true;
      /** More output follows. */
      preliminary?: true;
    }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string; dynamic?: true }
  | { type: 'tool-output-denied'; toolCallId: string };

/** A part of the message that shows what a server needs. A chunk with the same id replaces the part. */
export interface ApprovalChunk {
  type: 'data-approval';
  id: string;
  data: { approval_id: string; kind: ApprovalKind; details: ApprovalDetails };
}

/** Passed to `onData`; not a part of the message. */
type NoticeChunk =
  | { type: 'data-retry'; transient: true; data: { code: string; message: string; next_attempt_at?: string } }
  | { type: 'data-draining'; transient: true; data: { reconnect_after_ms: number } };

const FINISH_REASONS = ['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'] as const;
export type UiFinishReason = (typeof FINISH_REASONS)[number];

/** Maps the finish reason of a model to one that AI SDK knows. Default: `stop`. */
export function finishReasonOf(reason: string): UiFinishReason {
  return FINISH_REASONS.find((known) => known === reason) ?? 'stop';
}
