import { Type } from 'typebox';
import type { Conversation, Delivery } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import { count, id, NULL, nullable, serializeTime, serializeTimeOrNull, text, time } from '../common.ts';

export const DELIVERY_RESULTS = ['pending', 'accepted', 'duplicate', 'ignored', 'refused', 'failed'] as const;

export const conversationId = text('The chat, topic or thread, as the product names it.', {
  title: 'ConversationId',
  examples: ['C024BE91L/1700000000.000100'],
});

const sender = Type.Object(
  {
    external_id: text('The account at the product.', { examples: ['U024BE7LH'] }),
    name: text('The display name.', { examples: ['Ada'] }),
    user_id: nullable(id('usr', 'the linked user')),
  },
  { title: 'DeliverySender' },
);

export const DeliveryShape = Type.Object(
  {
    delivery_id: id('dlv', 'the delivery'),
    created_at: time('The time at which it was received.'),
    kind: Type.Enum(['message', 'command', 'action', 'file', 'other']),
    result: Type.Enum([...DELIVERY_RESULTS], {
      description:
        '`pending` waits for a channel worker. `ignored` was no message for the agent. `refused` was not verified or not ' +
        'allowed. `failed` was tried 10 times.',
    }),
    reason: nullable(
      text('Why it was ignored or refused or has failed, for example `bad_signature` or `not_linked`.'),
      NULL,
    ),
    sender: nullable(sender),
    conversation: nullable(conversationId),
    session_id: nullable(id('ses', 'the session that got the message')),
    turn_id: nullable(id('trn', 'the turn of the message')),
    size: count('The size in bytes.', 421),
    source_address: nullable(
      text('The IP address of the sender; null for sockets and polling.', { examples: ['127.0.0.1'] }),
    ),
    attempts: count('The number of attempts.'),
    count: count('The number of events that this entry stands for. Ignored and refused events share one.'),
  },
  { title: 'Delivery' },
);

export const ConversationShape = Type.Object(
  {
    conversation: conversationId,
    title: nullable(text('The title of the place.', { examples: ['#support'] })),
    session_id: nullable(id('ses', 'its session; null: the next message starts one')),
    state: Type.Enum(['engaged', 'idle', 'failing'], {
      description: '`engaged`: a channel worker follows the session. `failing`: posts cannot be sent.',
    }),
    people: count('The number of people who have sent a message.'),
    last_in_at: time('The time of the last message from the product.'),
    last_out_at: nullable(time('The time of the last post.')),
    waiting_posts: count('The number of posts that are not sent yet.', 0),
    reason: nullable(text('Why posts cannot be sent.'), NULL),
  },
  { title: 'ChannelConversation' },
);

export function serializeDelivery(delivery: Delivery) {
  const { sender: from } = delivery;
  return {
    delivery_id: delivery.deliveryId,
    created_at: serializeTime(delivery.createdAt),
    kind: delivery.kind,
    result: delivery.result,
    reason: delivery.reason || null,
    sender: from ? { external_id: from.externalId, name: from.name, user_id: from.userId || null } : null,
    conversation: delivery.conversation || null,
    session_id: delivery.sessionId || null,
    turn_id: delivery.turnId || null,
    size: delivery.size,
    source_address: delivery.sourceAddress || null,
    attempts: delivery.attempts,
    count: delivery.count,
  };
}

export function serializeConversation(conversation: Conversation) {
  return {
    conversation: conversation.conversation,
    title: conversation.title || null,
    session_id: conversation.sessionId || null,
    state: conversation.state,
    people: conversation.people,
    last_in_at: serializeTime(conversation.lastInAt),
    last_out_at: serializeTimeOrNull(conversation.lastOutAt),
    waiting_posts: conversation.waitingPosts,
    reason: conversation.reason || null,
  };
}
