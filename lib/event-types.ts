/**
 * The event types of a session's journal. `lib/events.ts` has their schemas. They are in a file of their own, because most
 * code needs only the names, and the schemas take long to load.
 */
export const EVENT_TYPES = [
  'session.created',
  'session.updated',
  'session.forked',
  'session.deleted',
  'turn.queued',
  'turn.started',
  'turn.blocked',
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'turn.cancelled',
  'session.status_pending',
  'session.status_running',
  'session.status_idle',
  'session.status_rescheduled',
  'session.status_terminated',
  'session.error',
  'user.message',
  'user.message_delivered',
  'user.interrupt',
  'user.tool_approval',
  'agent.message',
  'agent.thinking',
  'agent.message_delta',
  'agent.message_discarded',
  'agent.tools_offered',
  'agent.tool_use',
  'agent.tool_dispatched',
  'agent.tool_progress',
  'agent.tool_result',
  'agent.context_compacted',
  'approval.requested',
  'approval.decided',
  'credential.used',
  'files.uploaded',
  'file.created',
  'file.modified',
  'file.deleted',
  'environment.status_changed',
  'model.request_started',
  'model.request_finished',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

const KNOWN: ReadonlySet<string> = new Set(EVENT_TYPES);

export function isEventType(type: string): type is EventType {
  return KNOWN.has(type);
}

/** Returns whether a runner may report the type. Sessions writes all other types itself. */
export function isRunnerEvent(type: string): boolean {
  return isEventType(type) && (type.startsWith('agent.') || type.startsWith('model.'));
}

/** The messaging products of channels. `http` joins any other one. */
export const CHANNEL_PROVIDERS = ['slack', 'telegram', 'discord', 'http'] as const;
export type ChannelProvider = (typeof CHANNEL_PROVIDERS)[number];

/** The protocols besides the REST API in which clients create sessions and send messages. */
export const PROTOCOLS = ['mcp', 'openai', 'a2a'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** How sessions are created. */
export const SESSION_SOURCES = [
  'conversation',
  'webhook',
  'schedule',
  'channel',
  ...PROTOCOLS,
  'fork',
] as const;

export function isProtocol(text: unknown): text is Protocol {
  return PROTOCOLS.some((protocol) => protocol === text);
}

/** The kinds of actions that a blocked turn waits for. With several, the first one of this list is shown. */
export const ACTION_KINDS = [
  'outcome_unknown',
  'authorization',
  'input',
  'tool_result',
  'tool_approval',
] as const;
export type ActionKind = (typeof ACTION_KINDS)[number];

/** How a call that the service does not run is answered: by a person (`input`) or by the client (`tool_result`). */
export const CLIENT_CALL_KINDS = ['input', 'tool_result'] as const satisfies readonly ActionKind[];
export type ClientCallKind = (typeof CLIENT_CALL_KINDS)[number];

/**
 * Why a call needs a decision of a person: permission (`tool`), a cut off call (`outcome_unknown`), a missing credential
 * (`authorization`), or a server that asks for input (`input`).
 */
export const APPROVAL_KINDS = ['tool', 'outcome_unknown', 'authorization', 'input'] as const;
export type ApprovalKind = (typeof APPROVAL_KINDS)[number];

/** How a history was shortened for the model. */
export const COMPACTION_STRATEGIES = ['summarize', 'drop_tool_results', 'drop_turns'] as const;
export type CompactionStrategy = (typeof COMPACTION_STRATEGIES)[number];

/** Why a compaction did not use the strategy of the agent. */
export const COMPACTION_FALLBACKS = ['summary_failed', 'summary_empty', 'results_too_small'] as const;
export type CompactionFallback = (typeof COMPACTION_FALLBACKS)[number];
