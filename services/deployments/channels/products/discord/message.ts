import type {
  ChannelIdentity,
  InboundFile,
} from '../../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { commandInText } from '../commands.ts';
import { inboundEvent, inboundFile, orderOfNumber } from '../inbound-event.ts';
import { dateIn, idIn, type JsonObject, listIn, nameIn, objectIn, sizeIn, textIn } from '../json-members.ts';
import { accepted, ignored, type ParsedEvent } from '../product.ts';
import { placeOf } from './place.ts';

/** Message types that a person has written: DEFAULT and REPLY. Others are messages of Discord itself. */
const WRITTEN: readonly unknown[] = [0, 19, undefined];
const USER_JOIN = 7;

/** Reads a message of the gateway (https://discord.com/developers/docs/resources/message#message-object). */
export function parseMessage(message: JsonObject, { botId }: ChannelIdentity): ParsedEvent {
  const id = idIn(message.id);
  const channel = idIn(message.channel_id);
  const author = objectIn(message.author);
  if (id === '' || channel === '') return ignored('malformed');
  const content = textIn(message.content);
  const isMention = mentionOf(botId);
  const original = objectIn(message.referenced_message);
  const text = content.replace(isMention.atStart, '').trim();
  const files = listIn(message.attachments).map(fileOf);
  const command = commandInText(text);
  const event = inboundEvent({
    dedupeKey: `message:${id}`,
    orderKey: orderOfNumber(id),
    kind: command ? 'command' : 'message',
    place: placeOf(message, { channel, messageId: id }),
    senderId: idIn(author.id),
    senderName:
      nameIn(objectIn(message.member).nick) || nameIn(author.global_name) || nameIn(author.username),
    team: idIn(message.guild_id),
    mentionsBot:
      listIn(message.mentions).some((user) => isBot(user, botId)) || isMention.anywhere.test(content),
    repliesToBot: isBot(original.author, botId),
    botMessageId: isBot(original.author, botId) ? idIn(original.id) : '',
    text,
    files,
    command: command ?? '',
    sentAt: dateIn(Date.parse(textIn(message.timestamp))),
    messageId: id,
    messageExternalId: id,
  });
  if (botId !== '' && event.senderId === botId) return ignored('own_message', event);
  if (author.bot === true || idIn(message.webhook_id) !== '') return ignored('bot', event);
  if (message.type === USER_JOIN) return ignored('joined', event);
  if (!WRITTEN.includes(message.type)) return ignored('system_message', event);
  if (event.senderId === '') return ignored('no_sender', event);
  // Without the intent for the content of messages, Discord sends it only for mentions and direct messages.
  if (text === '' && files.length === 0 && !event.mentionsBot) return ignored('no_content', event);
  return accepted(event);
}

function isBot(user: unknown, botId: string): boolean {
  return botId !== '' && objectIn(user).id === botId;
}

function mentionOf(botId: string) {
  const mention = /^\d+$/.test(botId) ? `<@!?${botId}>` : '(?!)';
  return { atStart: new RegExp(`^\\s*${mention}[\\s,:]*`), anywhere: new RegExp(mention) };
}

function fileOf(value: unknown): InboundFile {
  const file = objectIn(value);
  return inboundFile({
    fileId: idIn(file.id),
    name: nameIn(file.filename),
    url: textIn(file.url),
    size: sizeIn(file.size),
    mediaType: nameIn(file.content_type),
  });
}
