import type {
  ChannelIdentity,
  InboundFile,
} from '../../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { commandInText } from '../commands.ts';
import { inboundEvent, inboundFile } from '../inbound-event.ts';
import { dateIn, idIn, type JsonObject, listIn, nameIn, objectIn, sizeIn, textIn } from '../json-members.ts';
import { accepted, ignored, type ParsedEvent } from '../product.ts';
import { mentionsUser, plainText } from './text.ts';

const TIMESTAMP = /^\d{10}\.\d{6}$/;

/** Subtypes of messages that a person has written. A message with files has the subtype `file_share`. */
const WRITTEN = new Set(['', 'file_share', 'thread_broadcast', 'me_message']);

/** Why a message of another subtype is ignored. Others are messages of Slack itself. */
const REASONS: Readonly<Record<string, string>> = {
  bot_message: 'bot',
  message_changed: 'edited',
  message_deleted: 'deleted',
  channel_join: 'joined',
  group_join: 'joined',
};

/**
 * Reads a `message` or `app_mention` event (https://docs.slack.dev/reference/events/message). Slack sends both for one
 * mention, and has sent one message under several event ids, so the key of a message is its workspace, channel and timestamp.
 */
export function parseMessage(
  payload: JsonObject,
  message: JsonObject,
  identity: ChannelIdentity,
): ParsedEvent {
  const channel = idIn(message.channel);
  const ts = textIn(message.ts);
  if (channel === '' || !TIMESTAMP.test(ts)) return ignored('malformed');
  const { botId, teamId } = identity;
  const subtype = textIn(message.subtype);
  const isDirect = message.channel_type === 'im' || channel.startsWith('D');
  const thread = textIn(message.thread_ts) || ts;
  const written = textIn(message.text);
  const text = plainText(written, botId);
  const command = commandInText(text);
  const profile = objectIn(message.user_profile);
  const team = idIn(message.user_team) || idIn(message.source_team) || idIn(message.team);
  const files = listIn(message.files).map(fileOf);
  const event = inboundEvent({
    dedupeKey: `message:${idIn(payload.team_id)}:${channel}:${ts}`,
    orderKey: ts,
    kind: command ? 'command' : 'message',
    place: { place: channel, thread: isDirect || !TIMESTAMP.test(thread) ? '' : thread, isGroup: !isDirect },
    senderId: idIn(message.user),
    senderName: nameIn(profile.display_name) || nameIn(profile.real_name) || nameIn(message.username),
    team,
    isExternal: team !== '' && teamId !== '' && team !== teamId,
    mentionsBot: message.type === 'app_mention' || mentionsUser(written, botId),
    repliesToBot: botId !== '' && message.parent_user_id === botId,
    text,
    files,
    command: command ?? '',
    sentAt: dateIn(Number(ts) * 1000),
    messageId: ts,
    messageExternalId: ts,
  });
  const reason = findReason(message, subtype, identity);
  if (reason) return ignored(reason, event);
  if (event.senderId === '') return ignored('no_sender', event);
  if (text === '' && files.length === 0 && !event.mentionsBot) return ignored('no_content', event);
  return accepted(event);
}

function findReason(
  message: JsonObject,
  subtype: string,
  { botId, botProfileId }: ChannelIdentity,
): string | undefined {
  const botProfile = idIn(message.bot_id);
  const isOwn =
    (botId !== '' && message.user === botId) || (botProfile !== '' && botProfile === botProfileId);
  if (subtype !== 'bot_message' && Object.hasOwn(REASONS, subtype)) return REASONS[subtype];
  if (isOwn) return 'own_message';
  if (botProfile !== '' || subtype === 'bot_message') return 'bot';
  return WRITTEN.has(subtype) ? undefined : 'system_message';
}

function fileOf(value: unknown): InboundFile {
  const file = objectIn(value);
  return inboundFile({
    fileId: idIn(file.id),
    name: nameIn(file.name) || nameIn(file.title),
    url: textIn(file.url_private_download) || textIn(file.url_private),
    size: sizeIn(file.size),
    mediaType: nameIn(file.mimetype),
  });
}
