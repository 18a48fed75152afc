import type { APIMessage, APIUser } from 'discord.js';
import type { DiscordApplication } from './application.ts';
import { keptAttachments, storeAttachment } from './attachments.ts';
import { emptyMessage, invalidForm } from './errors.ts';
import { DIRECT_MESSAGES, GUILD_MESSAGES } from './gateway/intents.ts';
import type { IndexedFile, MessageBody } from './message-body.ts';
import { memberObject } from './objects.ts';
import { timestamp, timestampOf } from './snowflakes.ts';
import { canView, type DiscordState, type StoredChannel } from './state.ts';

export const EPHEMERAL = 1 << 6;
/** The type of the first message of a thread, which refers to the message of the thread and has no content. */
export const THREAD_STARTER = 21;

/** A file of a form, or of a user. */
export interface PostedAttachment extends IndexedFile {
  /** Replaces the URL of the attachment. */
  url?: string | undefined;
}

export interface MessageInput {
  author: APIUser;
  body: MessageBody;
  files?: PostedAttachment[];
  /** Members that the sender cannot set, such as the interaction that the message answers. */
  extra?: Partial<APIMessage>;
}

/** Creates a message and delivers it. */
export function createMessage(state: DiscordState, channel: StoredChannel, input: MessageInput): APIMessage {
  const { author, body, files = [], extra } = input;
  const isFilled = body.content || files.length > 0 || body.embeds?.length || body.components?.length;
  if (!isFilled && extra?.type !== THREAD_STARTER) throw emptyMessage();
  const reply = body.message_reference && findReference(channel, body.message_reference);
  const id = state.nextId();
  const content = (body.content ?? '').trim();
  const message = {
    id,
    type: reply ? 19 : 0,
    channel_id: channel.id,
    author,
    content,
    timestamp: timestampOf(id),
    edited_timestamp: null,
    tts: false,
    ...mentionsOf(state, channel, content, author, body.allowed_mentions, reply?.author),
    attachments: files.map((file) => storeAttachment(state, channel, describe(file, body))),
    embeds: body.embeds ?? [],
    components: body.components ?? [],
    pinned: false,
    flags: body.flags ?? 0,
    ...(body.nonce !== undefined && { nonce: body.nonce }),
    ...(reply && {
      message_reference: {
        type: 0,
        message_id: reply.id,
        channel_id: channel.id,
        ...(channel.guild && { guild_id: channel.guild.id }),
      },
      referenced_message: withoutReference(reply),
    }),
    ...extra,
  } as unknown as APIMessage;
  channel.messages.set(id, message);
  publish(state, channel, 'MESSAGE_CREATE', message);
  return message;
}

function withoutReference({ referenced_message: _, ...message }: APIMessage): APIMessage {
  return message as APIMessage;
}

function describe(
  { index, name, contentType, bytes, url }: PostedAttachment,
  { attachments = [] }: MessageBody,
) {
  const about = attachments.find(({ id }) => Number(id) === index);
  return { name: about?.filename ?? name, contentType, bytes, url, description: about?.description };
}

function findReference(
  channel: StoredChannel,
  { message_id, fail_if_not_exists = true }: NonNullable<MessageBody['message_reference']>,
): APIMessage | undefined {
  const message = channel.messages.get(message_id ?? '');
  if (!message && fail_if_not_exists)
    throw invalidForm('message_reference', 'REPLIES_UNKNOWN_MESSAGE', 'Unknown message');
  return message;
}

type Mentions = Pick<APIMessage, 'mentions' | 'mention_roles' | 'mention_everyone'>;

/** Only mentions that `allowed_mentions` allows notify. Without it, all do, also the author of the message replied to. */
function mentionsOf(
  state: DiscordState,
  channel: StoredChannel,
  content: string,
  author: APIUser,
  allowed: MessageBody['allowed_mentions'],
  repliedTo?: APIUser,
): Mentions {
  const idsIn = (pattern: RegExp) => [...content.matchAll(pattern)].map(([, id]) => id ?? '');
  const isAllowed = (kind: 'users' | 'roles', id: string) =>
    allowed === undefined ||
    (allowed.parse?.includes(kind as never) ?? false) ||
    (allowed[kind]?.includes(id) ?? false);
  const users = new Set(idsIn(/<@!?(\d+)>/g).filter((id) => isAllowed('users', id)));
  if (repliedTo && repliedTo.id !== author.id && (allowed === undefined || allowed.replied_user))
    users.add(repliedTo.id);
  const roles = idsIn(/<@&(\d+)>/g).filter((id) => isAllowed('roles', id));
  const everyone = allowed === undefined || (allowed.parse?.includes('everyone' as never) ?? false);
  return {
    mentions: [...users].flatMap((id) => state.users.get(id) ?? []),
    mention_roles: roles.filter((id) => channel.guild?.roles.some((role) => role.id === id)),
    mention_everyone: everyone && /@(everyone|here)\b/.test(content),
  };
}

/** Changes the members that the body names and delivers the message. An edit without change is accepted, too. */
export function editMessage(
  state: DiscordState,
  channel: StoredChannel,
  message: APIMessage,
  { body, files = [] }: Pick<MessageInput, 'body' | 'files'>,
): APIMessage {
  const { content, embeds, components, attachments, flags } = body;
  if (content !== undefined) {
    message.content = (content ?? '').trim();
    Object.assign(
      message,
      mentionsOf(state, channel, message.content, message.author, body.allowed_mentions),
    );
  }
  if (embeds !== undefined) message.embeds = embeds as APIMessage['embeds'];
  if (components !== undefined) message.components = components;
  if (flags !== undefined) message.flags = flags;
  if (attachments !== undefined || files.length > 0) {
    const newIds = files.map(({ index }) => index);
    const kept = attachments?.filter(({ id }) => !newIds.includes(Number(id))).map(({ id }) => id);
    message.attachments = [
      ...(kept === undefined ? message.attachments : keptAttachments(message.attachments, kept)),
      ...files.map((file) => storeAttachment(state, channel, describe(file, body))),
    ];
  }
  if (
    !message.content &&
    message.embeds.length + message.attachments.length + (message.components?.length ?? 0) === 0
  )
    throw emptyMessage();
  message.edited_timestamp = timestamp(state.now());
  publish(state, channel, 'MESSAGE_UPDATE', message);
  return message;
}

export function deleteMessage(state: DiscordState, channel: StoredChannel, message: APIMessage): void {
  channel.messages.delete(message.id);
  const data = {
    id: message.id,
    channel_id: channel.id,
    ...(channel.guild && { guild_id: channel.guild.id }),
  };
  dispatch(state, channel, 'MESSAGE_DELETE', data);
}

/** A bot receives its own messages, too. Ephemeral ones do not reach the gateway. */
function publish(state: DiscordState, channel: StoredChannel, type: string, message: APIMessage): void {
  if ((message.flags ?? 0) & EPHEMERAL) return;
  const { guild } = channel;
  const where = guild && { guild_id: guild.id, member: memberObject(guild, message.author.id) };
  dispatch(state, channel, type, { ...message, channel_type: channel.type, ...where });
}

/** Sends an event to the sessions of all bots that see the channel. */
export function dispatch(
  state: DiscordState,
  channel: StoredChannel,
  type: string,
  data: object,
  intents = channel.guild ? GUILD_MESSAGES : DIRECT_MESSAGES,
): void {
  for (const application of viewers(state, channel)) {
    for (const session of application.sessions)
      session.dispatch({ type, data, channelId: channel.id, intents });
  }
}

function viewers(state: DiscordState, channel: StoredChannel): DiscordApplication[] {
  return state.applications.filter((application) => canView(application, channel));
}
