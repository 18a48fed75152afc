import { Type } from 'typebox';
import { closed, nullable, pageRequest, paging } from '../../../schemas/common.ts';
import { afterSeq, order, types, typesOf } from '../../../schemas/events.ts';
import { serializeMessage } from '../../../schemas/messages.ts';
import { ownSession } from '../session-access.ts';
import { READS, tool } from '../tool.ts';
import { nextCursor, sessionId } from './members.ts';

const AnyEvent = Type.Object(
  { seq: Type.Integer(), type: Type.String() },
  { additionalProperties: true, description: 'An event as the REST API returns it.' },
);

const MessageOutput = Type.Object({
  seq: Type.Integer(),
  role: Type.Enum(['user', 'agent']),
  content: Type.Array(Type.Object({ type: Type.String() }, { additionalProperties: true })),
  turn_id: Type.String(),
  message_id: nullable(Type.String()),
  created_at: Type.String(),
});

export const journalTools = [
  tool({
    name: 'list_messages',
    title: 'List messages',
    description:
      'Returns the messages of a conversation, oldest first. Use it to read what was said in an earlier conversation.',
    annotations: READS,
    input: closed({ session_id: sessionId('the conversation'), ...paging }),
    output: Type.Object({ messages: Type.Array(MessageOutput), next_cursor: nextCursor }),
    async call(args, operation) {
      const { sessionId: id } = await ownSession(operation, args.session_id);
      const { clients } = operation.context;
      const request = { sessionId: id, page: pageRequest(args) };
      const { events, page } = await clients.sessions.listMessages(request, operation.call);
      const messages = events.map(({ json }) => {
        const { seq, role, content, turn_id, message_id = null, created_at } = serializeMessage(json);
        return { seq, role, content, turn_id, message_id, created_at };
      });
      return { structured: { messages, next_cursor: page?.nextCursor || null } };
    },
  }),

  tool({
    name: 'list_events',
    title: 'List events',
    description:
      'Returns the journal of a conversation: messages, tool calls with their inputs and results, files, approvals and errors. ' +
      'Use it to find out how the agent came to its answer. `types` and `after_seq` keep the result short.',
    annotations: READS,
    input: closed({
      session_id: sessionId('the conversation'),
      after_seq: afterSeq,
      types,
      order,
      ...paging,
    }),
    output: Type.Object({ events: Type.Array(AnyEvent), next_cursor: nextCursor }),
    async call(args, operation) {
      const { sessionId: id } = await ownSession(operation, args.session_id);
      const { events, page } = await operation.context.clients.sessions.listEvents(
        {
          sessionId: id,
          page: pageRequest(args),
          afterSeq: args.after_seq ?? 0,
          types: typesOf(args.types),
          newestFirst: args.order === 'newest_first',
        },
        operation.call,
      );
      return {
        structured: {
          events: events.map(({ json }) => JSON.parse(json)),
          next_cursor: page?.nextCursor || null,
        },
      };
    },
  }),
];
