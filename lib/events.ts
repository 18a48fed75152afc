import { type Static, type TSchema, Type } from 'typebox';

/**
 * The event table: every type an event of a session's journal can have, and the shape of its `data`.
 * The edge describes its answers with it, sessions writes by it, followers read by it. A type is
 * never taken out and a member of `data` never changes its meaning; new optional members may come.
 */

const text = Type.String();
const count = Type.Integer({ minimum: 0 });
const time = Type.String({ format: 'date-time' });
const json = Type.Unknown({ description: 'Any JSON value, kept as it came.' });
const optional = Type.Optional;
const data = <Members extends Record<string, TSchema>>(members: Members) => Type.Object(members);

/** One part of a message: text, or another kind of the model library. */
const Part = Type.Object({ type: text, text: optional(text) }, { additionalProperties: true });
const Content = Type.Array(Part);

const Failure = Type.Object({ code: text, message: text });
const Usage = Type.Object({
  input_tokens: count,
  output_tokens: count,
  steps: count,
  tool_calls: count,
  active_seconds: Type.Number({ minimum: 0 }),
});

/** Why a session is idle, or what it waits for. */
export const StopReason = Type.Object({
  type: Type.Enum([
    'end_turn',
    'requires_action',
    'interrupted',
    'retries_exhausted',
    'budget_reached',
    'max_steps_reached',
    'refused',
  ]),
  /** Of requires_action: what is being waited for. */
  kind: optional(Type.Enum(['tool_approval', 'outcome_unknown', 'input'])),
  /** Of requires_action: the ids of the events that ask. */
  blocking: optional(Type.Array(text)),
});
export type StopReason = Static<typeof StopReason>;

const Attempt = { turn_id: text, attempt: count, fence: count };

export const EVENT_DATA = {
  'session.created': data({
    source: Type.Enum(['conversation', 'webhook', 'schedule', 'channel', 'mcp', 'fork']),
    agent_id: optional(text),
    agent_version: optional(count),
    assistant_id: optional(text),
    deployment_id: optional(text),
    invocation_id: optional(text),
  }),
  'session.updated': data({
    changed: Type.Array(text, { description: 'title, metadata, archived_at or agent_version.' }),
  }),
  'session.forked': data({ from_session_id: text, from_seq: count }),
  'session.deleted': data({}),
  'turn.queued': data({ turn_id: text }),
  'turn.started': data(Attempt),
  'turn.blocked': data(Attempt),
  'turn.completed': data({ ...Attempt, usage: Usage }),
  'turn.failed': data({ ...Attempt, error: Failure, usage: Usage }),
  'turn.interrupted': data({ ...Attempt, usage: Usage }),
  'turn.cancelled': data({ turn_id: text, reason: text }),
  'session.status_pending': data({ turn_id: text }),
  'session.status_running': data(Attempt),
  'session.status_idle': data({ stop_reason: StopReason }),
  'session.status_rescheduled': data({ ...Attempt, reason: text }),
  'session.status_terminated': data({ reason: text }),
  'session.error': data({
    error: Failure,
    retry_status: Type.Enum(['retrying', 'exhausted', 'terminal']),
    next_attempt_at: optional(time),
  }),
  'user.message': data({ content: Content }),
  'user.interrupt': data({}),
  'user.tool_approval': data({
    approval_id: text,
    decision: text,
    reason: optional(text),
    edited_input: optional(json),
  }),
  'agent.message': data({ message_id: text, content: Content, model: text, finish_reason: text }),
  'agent.thinking': data({ message_id: text, content: Content }),
  'agent.message_delta': data({ message_id: text, index: count, delta: text }),
  'agent.message_discarded': data({ message_id: text, reason: text }),
  'agent.tool_use': data({ tool_use_id: text, name: text, input: json, evaluated_permission: text }),
  'agent.tool_dispatched': data({ tool_use_id: text, attempt: count, fence: count }),
  'agent.tool_progress': data({ tool_use_id: text, output_delta: text }),
  'agent.tool_result': data({
    tool_use_id: text,
    output: json,
    is_error: Type.Boolean(),
    duration_ms: count,
    /** What it was called with, where somebody has changed that. */
    edited_input: optional(json),
    /** The version of the workspace that it left behind, where it may have changed it. */
    workspace_version: optional(count),
  }),
  'approval.requested': data({
    approval_id: text,
    kind: Type.Enum(['tool', 'outcome_unknown', 'input']),
    tool_use_id: optional(text),
    tool_name: optional(text),
    input_sha256: optional(text),
    expires_at: time,
  }),
  'approval.decided': data({ approval_id: text, decision: text, by: text, reason: optional(text) }),
  'file.created': data({ path: text, size: count, sha256: text, workspace_version: count }),
  'file.modified': data({ path: text, size: count, sha256: text, workspace_version: count }),
  'file.deleted': data({ path: text, workspace_version: count }),
  'environment.status_changed': data({ from: text, to: text, reason: text }),
  'credential.used': data({ credential_id: text, host: text }),
  'model.request_started': data({ model: text }),
  'model.request_finished': data({
    model: text,
    usage: Type.Object({ input_tokens: count, output_tokens: count }),
    ttft_ms: optional(count),
    duration_ms: count,
    is_error: Type.Boolean(),
  }),
} as const;

export type EventType = keyof typeof EVENT_DATA;
export type EventData<T extends EventType> = Static<(typeof EVENT_DATA)[T]>;

export const EVENT_TYPES = Object.keys(EVENT_DATA) as EventType[];

export function isEventType(type: string): type is EventType {
  return Object.hasOwn(EVENT_DATA, type);
}

/** Types a running turn may report; sessions writes all others itself. */
export function isRunnerEvent(type: string): boolean {
  return isEventType(type) && (type.startsWith('agent.') || type.startsWith('model.'));
}

/** Who did it. */
export const Actor = Type.Object({
  type: Type.Enum(['user', 'agent', 'system', 'trigger', 'schedule', 'channel', 'mcp']),
  id: text,
});
export type Actor = Static<typeof Actor>;

/** An event as the API shows it, in lists and on the stream. */
export const Event = Type.Object({
  event_id: Type.String({ description: 'evt_…' }),
  session_id: Type.String({ description: 'ses_…' }),
  seq: Type.Integer({ minimum: 1, description: '1, 2, 3 … within the session, without gaps.' }),
  type: Type.Enum(EVENT_TYPES),
  turn_id: optional(Type.String({ description: 'trn_…: the turn it belongs to.' })),
  created_at: time,
  actor: Actor,
  traceparent: optional(Type.String({ description: 'W3C trace context of what caused it.' })),
  data: Type.Object({}, { additionalProperties: true, description: 'Its shape goes with the type.' }),
});
export type Event = Static<typeof Event>;
