import type { Message } from 'grammy/types';
import { addMessage, type MessagePlace, type StoredChat } from '../chats.ts';
import { badRequest, TelegramError } from '../errors.ts';
import { MAX_UPLOAD_BYTES } from '../files.ts';
import { readInlineKeyboard } from '../markup.ts';
import { findChat, findOwnMessage, type Method, type MethodCall, readText, seconds } from './context.ts';

const NOT_MODIFIED =
  'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message';
const ACTIONS = [
  'typing',
  'upload_photo',
  'record_video',
  'upload_video',
  'record_voice',
  'upload_voice',
  'upload_document',
  'choose_sticker',
  'find_location',
  'record_video_note',
  'upload_video_note',
];

export const sendMessage: Method = (call) => {
  const stored = findChat(call);
  const content = readText(call.parameters, 'text');
  if (!content || content.text === '') throw badRequest('message text is empty');
  const { text, entities } = content;
  return send(call, stored, { text, ...(entities.length > 0 && { entities }) });
};

export const sendDocument: Method = (call) => {
  const { parameters, state } = call;
  const stored = findChat(call);
  const upload = parameters.file('document');
  if (upload && upload.bytes.length > MAX_UPLOAD_BYTES)
    throw new TelegramError(413, 'Request Entity Too Large');
  if (upload?.bytes.length === 0) throw badRequest('file must be non-empty');
  const id = parameters.text('document');
  if (!upload && !id) throw badRequest('there is no document in the request');
  const { file_id, file_unique_id, file_size } = upload
    ? state.files.put('documents', upload.name, upload.bytes)
    : state.files.get(id ?? '');
  const caption = readText(parameters, 'caption');
  return send(call, stored, {
    document: {
      file_id,
      file_unique_id,
      file_size,
      ...(upload && { file_name: upload.name, mime_type: upload.contentType }),
    },
    ...(caption?.text && { caption: caption.text }),
    ...(caption && caption.entities.length > 0 && { caption_entities: caption.entities }),
  });
};

/** The answer of a send is the message. The product has no way to find a message by anything that the bot chose. */
function send(call: MethodCall, stored: StoredChat, content: Partial<Message>): Message {
  const { bot, state, parameters } = call;
  const markup = readInlineKeyboard(parameters);
  const place = readPlace(call, stored);
  stored.lastBot = bot;
  const {
    supports_inline_queries: _,
    can_join_groups: __,
    can_read_all_group_messages: ___,
    ...me
  } = bot.user;
  const from = { id: me.id, is_bot: true, first_name: me.first_name, username: me.username };
  const message = addMessage(stored, from, seconds(state.now()), place, {
    ...content,
    ...(markup && { reply_markup: markup }),
  });
  return structuredClone(message);
}

function readPlace({ parameters }: MethodCall, stored: StoredChat): MessagePlace {
  const topic = parameters.integer('message_thread_id');
  if (topic !== undefined && !stored.topics.has(topic)) throw badRequest('message thread not found');
  const reply = parameters.object('reply_parameters') as
    | { message_id?: unknown; allow_sending_without_reply?: unknown }
    | undefined;
  const id = Number(reply?.message_id ?? parameters.integer('reply_to_message_id') ?? 0);
  const replyTo = stored.messages.get(id);
  if (id !== 0 && !replyTo && reply?.allow_sending_without_reply !== true)
    throw badRequest('message to be replied not found');
  return { topic, replyTo };
}

export const editMessageText: Method = (call) => {
  const stored = findChat(call);
  const content = readText(call.parameters, 'text');
  if (!content || content.text === '') throw badRequest('message text is empty');
  const message = findOwnMessage(call, stored, 'edit');
  if (message.text === undefined) throw badRequest('there is no text in the message to edit');
  const { text, entities } = content;
  return edit(call, message, { text, ...(entities.length > 0 && { entities }) });
};

/** An edit without `reply_markup` removes the keyboard. */
export const editMessageReplyMarkup: Method = (call) =>
  edit(call, findOwnMessage(call, findChat(call), 'edit'), {});

function edit({ state, parameters }: MethodCall, message: Message, content: Partial<Message>): Message {
  const markup = readInlineKeyboard(parameters);
  const contentOf = (one: Partial<Message>) =>
    JSON.stringify([one.text, one.entities ?? [], one.reply_markup ?? null]);
  const { text, entities } = 'text' in content ? content : message;
  if (contentOf(message) === contentOf({ text, entities, reply_markup: markup }))
    throw badRequest(NOT_MODIFIED);
  Object.assign(message, { text, entities, reply_markup: markup, edit_date: seconds(state.now()) });
  for (const field of ['text', 'entities', 'reply_markup'] as const) {
    if (message[field] === undefined) delete message[field];
  }
  return structuredClone(message);
}

export const deleteMessage: Method = (call) => {
  const stored = findChat(call);
  stored.messages.delete(findOwnMessage(call, stored, 'delete').message_id);
  return true;
};

export const answerCallbackQuery: Method = ({ bot, state, parameters }) => {
  const queryId = parameters.text('callback_query_id') ?? '';
  if (!bot.openQueries.delete(queryId))
    throw badRequest('query is too old and response timeout expired or query ID is invalid');
  state.answered.push({ queryId, text: parameters.text('text'), showAlert: parameters.isTrue('show_alert') });
  return true;
};

export const sendChatAction: Method = (call) => {
  findChat(call);
  if (!ACTIONS.includes(call.parameters.text('action') ?? ''))
    throw badRequest('wrong parameter action in request');
  return true;
};
