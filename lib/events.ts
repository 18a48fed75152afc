import { type Static, type TSchema, Type } from 'typebox';
import {
  Actor,
  ApprovalDetails,
  Content,
  count,
  data,
  Failure,
  json,
  MessageSender,
  ModelFallback,
  optional,
  PinnedMark,
  StopReason,
  TOKEN_DETAILS,
  text,
  time,
  Usage,
} from './event-parts.ts';
import {
  ACTION_KINDS,
  APPROVAL_KINDS,
  CLIENT_CALL_KINDS,
  COMPACTION_FALLBACKS,
  COMPACTION_STRATEGIES,
  type EventType,
  SESSION_SOURCES,
} from './event-types.ts';

/**
 * The event table: every event type of a session's journal and the schema of its `data`. The edge describes its
 * responses with it, sessions writes events by it, and followers read by it. A type is never removed and a member of
 * `data` never changes its meaning. New optional members may be added. Some sources and actors were removed while no
 * feature wrote them.
 */

const Attempt = { turn_id: text, attempt: count, fence: count };

export const EVENT_DATA = {
  'session.created': data({
    source: Type.Enum([...SESSION_SOURCES]),
    agent_id: optional(text),
    agent_version: optional(count),
    assistant_id: optional(text),
    deployment_id: optional(text),
    invocation_id: optional(text),
  }),
  'session.updated': data({
    changed: Type.Array(text, { description: 'title, metadata, archived_at, agent_version or queue_held.' }),
  }),
  'session.forked': data({ from_session_id: text, from_seq: count }),
  'session.deleted': data({}),
  'turn.queued': data({
    turn_id: text,
    /** The turn whose answer this one replaces for later turns. */
    replaces_turn_id: optional(text),
    steers_turn_id: optional(
      Type.String({
        description: 'The turn that gets the message before its next step (`busy_policy: steer`).',
      }),
    ),
    /** The overrides in force for the turn. */
    overrides: optional(Type.Object({}, { additionalProperties: true })),
    kind: optional(
      Type.Literal('compaction', {
        description: 'The turn has no message and no answer: it shortens the history for the model.',
      }),
    ),
  }),
  'turn.started': data(Attempt),
  'turn.blocked': data({ ...Attempt, kind: optional(Type.Enum([...ACTION_KINDS])) }),
  'turn.completed': data({
    ...Attempt,
    usage: Usage,
    delivered_to_turn_id: optional(
      Type.String({
        description:
          'The running turn that the message of this turn was delivered into. This turn has then not started, and that one answers.',
      }),
    ),
  }),
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
  'user.message': data({
    content: Content,
    sender: optional(MessageSender),
    pinned: optional(PinnedMark),
  }),
  'user.message_delivered': data({
    message_seq: Type.Integer({ minimum: 1, description: 'The seq of the `user.message` event.' }),
    turn_id: Type.String({ description: 'The turn that got the message.' }),
    step: Type.Integer({
      minimum: 1,
      description: 'Number of the model step that gets the message, from 1.',
    }),
  }),
  'user.interrupt': data({}),
  'user.tool_approval': data({
    approval_id: text,
    decision: text,
    reason: optional(text),
    edited_input: optional(json),
  }),
  'agent.message': data({
    message_id: text,
    content: Content,
    model: text,
    finish_reason: text,
    /** The structured output: the text of the message as JSON value, if it matches the output schema. */
    output: optional(json),
    /** Why the text is no valid output. The model gets the problems and answers again, once. */
    output_error: optional(
      data({
        code: Type.Enum(['invalid', 'too_expensive']),
        problems: Type.Array(data({ pointer: text, message: text })),
      }),
    ),
  }),
  'agent.thinking': data({ message_id: text, content: Content }),
  'agent.message_delta': data({ message_id: text, index: count, delta: text }),
  'agent.message_discarded': data({ message_id: text, reason: text }),
  'agent.tool_use': data({
    tool_use_id: text,
    name: text,
    input: json,
    evaluated_permission: text,
    /** Absent for a tool that the service runs. */
    kind: optional(
      Type.Enum([...CLIENT_CALL_KINDS], {
        description:
          '`tool_result`: the client runs the tool. `input`: a person answers a question. Absent for a tool that the service runs.',
      }),
    ),
  }),
  'agent.tools_offered': data({
    /** Of the definitions as the model sees them, as a JSON array. */
    sha256: text,
    /** The tools of MCP servers that this turn can use. */
    tools: Type.Array(
      data({
        name: text,
        /** The name of the server. */
        server: text,
        /** The number of the review that offers the tool. */
        review: count,
      }),
    ),
  }),
  'agent.tool_dispatched': data({ tool_use_id: text, attempt: count, fence: count }),
  'agent.tool_progress': data({ tool_use_id: text, output_delta: text }),
  'agent.tool_result': data({
    tool_use_id: text,
    output: json,
    is_error: Type.Boolean(),
    /** The name of the MCP server that sent the output, which is text of a third party. Absent for other tools. */
    mcp_server: optional(text),
    duration_ms: count,
    /** The input of the call, if the approver edited it. */
    edited_input: optional(json),
    /** The workspace version after the call, if the tool can change the workspace. */
    workspace_version: optional(count),
    /** The exit code, if the call ran a command that ended by itself. */
    exit_code: optional(Type.Integer()),
    /** The parts of `output` that the command printed to stderr, in UTF-16 units, without overlap, in order. */
    stderr_ranges: optional(Type.Array(data({ start: count, end: count }))),
  }),
  'agent.context_compacted': data({
    from_seq: Type.Integer({ minimum: 1, description: 'The first event of the range.' }),
    to_seq: Type.Integer({ minimum: 1, description: 'The last event of the range.' }),
    strategy: Type.Enum([...COMPACTION_STRATEGIES], {
      description:
        '`summarize`: a summary takes the place of the range for the model. `drop_turns`: the range is left out. ' +
        '`drop_tool_results`: only the outputs in `moved` are left out.',
    }),
    summary: optional(
      Type.String({ description: 'Of the range and all earlier ones. Absent if there is none.' }),
    ),
    tokens_before: Type.Integer({ minimum: 0, description: 'The estimated input of the next request.' }),
    tokens_after: Type.Integer({ minimum: 0, description: 'The estimated input after the compaction.' }),
    kept: Type.Array(Type.Integer({ minimum: 1 }), {
      description: 'The seqs within the range that the model still gets.',
    }),
    moved: optional(
      Type.Array(
        data({
          seq: Type.Integer({ minimum: 1, description: 'The `agent.tool_result` event.' }),
          path: optional(
            Type.String({ description: 'The file with the output. Absent if it could not be written.' }),
          ),
          bytes: Type.Integer({ minimum: 0, description: 'The size of the output.' }),
          shown: Type.Integer({
            minimum: 0,
            description: 'The model still gets the first characters of the output, in UTF-16 units.',
          }),
        }),
        { description: 'Tool results whose output the model no longer gets.' },
      ),
    ),
    fallback: optional(
      Type.Enum([...COMPACTION_FALLBACKS], {
        description: 'Why the strategy is not the one of the agent.',
      }),
    ),
    model: optional(Type.String({ description: 'The model that has written the summary.' })),
    usage: optional(
      Type.Object(
        { input_tokens: count, output_tokens: count, ...TOKEN_DETAILS },
        { description: 'The resources that the summary has used.' },
      ),
    ),
  }),
  'approval.requested': data({
    approval_id: text,
    kind: Type.Enum([...APPROVAL_KINDS]),
    /** Absent for an authorization that belongs to the turn itself. */
    tool_use_id: optional(text),
    /** The calls that share the approval, if there are several. `tool_use_id` is the first one. */
    tool_use_ids: optional(Type.Array(text)),
    tool_name: optional(text),
    input_sha256: optional(text),
    details: optional(ApprovalDetails),
    expires_at: time,
  }),
  'approval.decided': data({
    approval_id: text,
    decision: text,
    by: text,
    via: optional(
      Type.String({
        description:
          'The account in a messaging product with which the user has decided, such as slack:U123.',
      }),
    ),
    reason: optional(text),
  }),
  'credential.used': data({
    credential_id: Type.String({ description: 'crd_…' }),
    host: Type.String({
      description:
        'The host that receives the credential, with its port if that is not 443. For a model key, the provider.',
    }),
  }),
  'files.uploaded': data({
    workspace_version: count,
    file_count: count,
    /** Of all files. */
    bytes: count,
    /** The first 100 files. */
    files: Type.Array(data({ path: text, size: count, sha256: text })),
  }),
  'file.created': data({ path: text, size: count, sha256: text, workspace_version: count }),
  'file.modified': data({ path: text, size: count, sha256: text, workspace_version: count }),
  'file.deleted': data({ path: text, workspace_version: count }),
  'environment.status_changed': data({ from: text, to: text, reason: text }),
  'model.request_started': data({ model: text }),
  'model.request_finished': data({
    model: text,
    usage: Type.Object({ input_tokens: count, output_tokens: count, ...TOKEN_DETAILS }),
    ttft_ms: optional(count),
    duration_ms: count,
    is_error: Type.Boolean(),
    fallback: optional(ModelFallback),
  }),
} as const satisfies Record<EventType, TSchema>;

export type EventData<T extends EventType> = Static<(typeof EVENT_DATA)[T]>;

/** The members of every event besides `type` and `data`. */
export const EventBase = Type.Object(
  {
    event_id: Type.String({ description: 'evt_…' }),
    session_id: Type.String({ description: 'ses_…' }),
    seq: Type.Integer({ minimum: 1, description: '1, 2, 3 … within the session, without gaps.' }),
    turn_id: optional(Type.String({ description: 'trn_…: the turn that the event belongs to.' })),
    created_at: time,
    actor: Actor,
    traceparent: optional(Type.String({ description: 'W3C trace context of the cause.' })),
  },
  { title: 'EventBase', description: 'The members of every event besides `type` and `data`.' },
);
