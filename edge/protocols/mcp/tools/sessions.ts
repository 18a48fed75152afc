import { Type } from 'typebox';
import type { Session } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { closed, nullable, optional, pageRequest, paging, search } from '../../../schemas/common.ts';
import { SESSION_STATES, serializeSession } from '../../../schemas/sessions.ts';
import { exposedSessions } from '../../exposure.ts';
import { exposedAgent } from '../agents.ts';
import type { McpOperation } from '../operation.ts';
import { ownSession } from '../session-access.ts';
import { READS, tool } from '../tool.ts';
import { consoleUrl } from '../turn-result.ts';
import { agentId, nextCursor, sessionId } from './members.ts';

export const SessionOutput = Type.Object({
  session_id: Type.String(),
  agent_id: nullable(Type.String()),
  title: nullable(Type.String()),
  state: nullable(Type.String(), {
    description: 'What the conversation does, or how its last turn ended. Null before the first turn.',
  }),
  current_turn_id: nullable(Type.String(), { description: 'The turn that runs or is blocked.' }),
  queued_turns: Type.Integer(),
  needs_action: Type.Boolean({ description: 'Whether a turn waits for a person.' }),
  last_seq: Type.Integer({ description: 'The seq of the newest event.' }),
  created_at: Type.String(),
  updated_at: Type.String(),
  archived_at: nullable(Type.String()),
  console_url: Type.String(),
});

export function serializeOwnSession(operation: McpOperation, session: Session) {
  const {
    session_id,
    agent_id,
    title,
    state,
    current_turn_id,
    queued_turns,
    needs_action,
    last_seq,
    ...rest
  } = serializeSession(session);
  const { created_at, updated_at, archived_at } = rest;
  return {
    ...{ session_id, agent_id, title, state, current_turn_id, queued_turns, needs_action, last_seq },
    ...{ created_at, updated_at, archived_at },
    console_url: consoleUrl(operation, session.sessionId),
  };
}

export const sessionTools = [
  tool({
    name: 'list_sessions',
    title: 'List conversations',
    description:
      'Lists your conversations with agents, newest first. Use it to find an earlier conversation by its title, agent or state. ' +
      'A page can have fewer items than `limit`.',
    annotations: READS,
    input: closed({
      agent_id: optional(agentId('only conversations with this agent')),
      state: optional(Type.Enum([...SESSION_STATES], { description: 'Only conversations in this state.' })),
      q: search('Matches a part of the title or an id.'),
      ...paging,
    }),
    output: Type.Object({ sessions: Type.Array(SessionOutput), next_cursor: nextCursor }),
    async call(args, operation) {
      const { context, call } = operation;
      const { clients } = context;
      const only = args.agent_id ?? operation.agentId;
      if (only !== undefined) await exposedAgent(operation, only);
      const { sessions, page } = await clients.sessions.listSessions(
        {
          page: pageRequest(args),
          agentId: only ?? '',
          deploymentId: '',
          status: '',
          states: args.state ? [args.state] : [],
          q: args.q ?? '',
        },
        call,
      );
      const exposed = await exposedSessions(clients, call, sessions, 'mcp');
      return {
        structured: {
          sessions: exposed.map((session) => serializeOwnSession(operation, session)),
          next_cursor: page?.nextCursor || null,
        },
      };
    },
  }),

  tool({
    name: 'get_session',
    title: 'Get a conversation',
    description: 'Returns the state of a conversation: whether it works, waits for a person or has ended.',
    annotations: READS,
    input: closed({ session_id: sessionId('the conversation') }),
    output: Type.Object({ session: SessionOutput }),
    async call(args, operation) {
      const session = await ownSession(operation, args.session_id);
      return { structured: { session: serializeOwnSession(operation, session) } };
    },
  }),

  tool({
    name: 'interrupt',
    title: 'Interrupt a conversation',
    description:
      'Ends the turn that runs, is blocked or is next. What the agent has done so far is kept, and the conversation can go on. ' +
      'Without such a turn it has no effect.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    input: closed({
      session_id: sessionId('the conversation'),
      queue: optional(
        Type.Enum(['continue', 'hold'], {
          description: '`continue` (default): the next queued turn starts. `hold`: queued turns wait.',
        }),
      ),
    }),
    output: Type.Object({ session: SessionOutput }),
    async call(args, operation) {
      const { context, call } = operation;
      const { sessionId: id } = await ownSession(operation, args.session_id);
      const request = { sessionId: id, holdQueue: args.queue === 'hold' };
      const { session } = await context.clients.sessions.interruptSession(request, call);
      if (!session) throw new Error('The sessions service returned no session.');
      return { structured: { session: serializeOwnSession(operation, session) } };
    },
  }),
];
