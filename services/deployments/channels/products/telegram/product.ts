import type {
  ChannelIdentity,
  InboundEvent,
} from '../../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { PlaceMove } from '../../../domain/channels/moved-places.ts';
import { commandInText, commandNamed } from '../commands.ts';
import { decisionInText } from '../decisions.ts';
import { inboundEvent, orderOfNumber } from '../inbound-event.ts';
import {
  dateIn,
  idIn,
  isObject,
  type JsonObject,
  nameIn,
  objectIn,
  parseObject,
  textIn,
} from '../json-members.ts';
import { accepted, EMPTY_OK, ignored, type ParsedEvent, type Product } from '../product.ts';
import { commandAtStart, isName, mentionsBot, textOf, withoutMention } from './entities.ts';
import { filesOf } from './files.ts';
import { telegramVerifier } from './verify.ts';

/**
 * Events have the form of an Update (https://core.telegram.org/bots/api#update). The callback_data of the buttons is
 * `allow:apr_…` or `deny:apr_…`. The name of the bot in the identity is its username.
 */
export const telegram: Product = {
  maxBodyBytes: 1024 * 1024,
  createVerifier: telegramVerifier,
  decode: ({ body }) => parseObject(body),
  isCheck: () => false,

  parse(raw, identity) {
    const update = objectIn(raw);
    const updateId = idIn(update.update_id);
    if (updateId === '') return ignored('malformed');
    if (isObject(update.message)) return parseMessage(update.message, updateId, identity);
    if (isObject(update.callback_query)) return parseClick(update.callback_query, updateId);
    if (isObject(update.edited_message) || isObject(update.edited_channel_post)) {
      const message = objectIn(update.edited_message ?? update.edited_channel_post);
      return ignored('edited', eventOf(message, updateId));
    }
    if (isObject(update.channel_post)) return ignored('no_sender', eventOf(update.channel_post, updateId));
    return ignored('unknown_event');
  },

  answer: () => EMPTY_OK,
};

function parseMessage(message: JsonObject, updateId: string, identity: ChannelIdentity): ParsedEvent {
  const event = eventOf(message, updateId);
  if (!event.place) return ignored('malformed');
  const move = moveOf(message, event.place);
  if (move) return { outcome: 'ignored', reason: 'moved', event, move };
  const from = objectIn(message.from);
  const content = textOf(message);
  event.files = filesOf(message);
  event.text = withoutMention(content, identity);
  event.mentionsBot = mentionsBot(content, identity);
  event.repliesToBot = repliesToBot(message, identity);
  if (event.senderId === identity.botId) return ignored('own_message', event);
  // An administrator who writes as the group has the sender GroupAnonymousBot.
  if (message.sender_chat !== undefined) return ignored('anonymous_sender', event);
  if (from.is_bot === true) return ignored('bot', event);
  if (event.senderId === '') return ignored('no_sender', event);
  const slash = commandAtStart(content);
  if (slash?.bot !== undefined && !isName(slash.bot, identity)) return ignored('other_bot', event);
  const command = slash ? commandOf(slash.name) : commandInText(event.text);
  if (command) {
    event.kind = 'command';
    event.command = command;
  }
  // Telegram itself decides which bots of a group receive a command without a name.
  if (slash && (command || slash.bot !== undefined)) event.mentionsBot = true;
  if (message.new_chat_members !== undefined) return ignored('joined', event);
  if (event.text === '' && event.files.length === 0) return ignored('no_content', event);
  return accepted(event);
}

/** Both chats have a message about it (https://core.telegram.org/bots/api#message). */
function moveOf(message: JsonObject, { place }: { place: string }): PlaceMove | undefined {
  const [to, from] = [idIn(message.migrate_to_chat_id), idIn(message.migrate_from_chat_id)];
  if (to !== '') return { from: place, to };
  return from === '' ? undefined : { from, to: place };
}

/** Telegram's clients send /start when a person opens the chat with a bot. */
function commandOf(name: string) {
  return name === 'start' ? 'help' : commandNamed(name);
}

/** The first message of a topic counts as replied to by all messages of the topic. */
function repliesToBot(message: JsonObject, identity: ChannelIdentity): boolean {
  const original = objectIn(message.reply_to_message);
  const isTopic = original.forum_topic_created !== undefined;
  return !isTopic && idIn(objectIn(original.from).id) === identity.botId;
}

function parseClick(query: JsonObject, updateId: string): ParsedEvent {
  const queryId = idIn(query.id);
  const clicked = eventOf({ ...objectIn(query.message), from: query.from }, updateId);
  if (!clicked.place || clicked.senderId === '' || queryId === '') return ignored('malformed');
  const decision = decisionInText(textIn(query.data));
  const event: InboundEvent = {
    ...clicked,
    kind: 'action',
    messageExternalId: clicked.messageId,
    approvalId: decision?.approvalId ?? '',
    decision: decision?.decision ?? '',
    answerToken: queryId,
    sentAt: undefined,
  };
  return decision ? accepted(event) : ignored('unknown_action', event);
}

/** The sender and the place of a message. Without a place, it has the wrong form. */
function eventOf(message: JsonObject, updateId: string): InboundEvent {
  const chat = objectIn(message.chat);
  const from = objectIn(message.from);
  const place = idIn(chat.id);
  const messageId = idIn(message.message_id);
  const isGroup = chat.type !== 'private';
  const thread = message.is_topic_message === true ? idIn(message.message_thread_id) : '';
  return inboundEvent({
    dedupeKey: `update:${updateId}`,
    orderKey: orderOfNumber(messageId),
    place: place === '' || messageId === '' ? undefined : { place, thread, isGroup },
    title: nameIn(chat.title),
    senderId: idIn(from.id),
    senderName:
      [nameIn(from.first_name), nameIn(from.last_name)].filter(Boolean).join(' ') || nameIn(from.username),
    sentAt: dateIn(typeof message.date === 'number' ? message.date * 1000 : 0),
    messageId,
    messageExternalId: messageId,
  });
}
