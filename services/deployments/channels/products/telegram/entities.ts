import type { ChannelIdentity } from '../../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { type JsonObject, listIn, objectIn, textIn } from '../json-members.ts';

/** A marked part of a text. Offsets count UTF-16 code units, as JavaScript does. */
interface Entity {
  type: string;
  text: string;
  offset: number;
  userId: unknown;
}

export interface MessageText {
  text: string;
  entities: readonly Entity[];
}

/** The text of a message, or the caption of its file, with its entities (https://core.telegram.org/bots/api#messageentity). */
export function textOf(message: JsonObject): MessageText {
  const isCaption = typeof message.text !== 'string';
  const text = textIn(isCaption ? message.caption : message.text);
  const entities = listIn(isCaption ? message.caption_entities : message.entities).map((value) => {
    const { type, offset, length, user } = objectIn(value);
    const start = typeof offset === 'number' ? offset : 0;
    const end = typeof length === 'number' ? start + length : start;
    return {
      type: textIn(type),
      text: text.slice(start, end),
      offset: start,
      userId: objectIn(user).id,
    };
  });
  return { text, entities };
}

export function mentionsBot({ entities }: MessageText, identity: ChannelIdentity): boolean {
  return entities.some(
    ({ type, text, userId }) =>
      (type === 'mention' && isName(text, identity)) ||
      (type === 'text_mention' && String(userId) === identity.botId),
  );
}

/** The text without a mention of the bot at its beginning. */
export function withoutMention({ text, entities }: MessageText, identity: ChannelIdentity): string {
  const first = entities.find(({ type, offset }) => type === 'mention' && offset === 0);
  const isBot = first && isName(first.text, identity);
  return (isBot ? text.slice(first.text.length).replace(/^[\s,:]+/, '') : text).trim();
}

/** The command at the beginning, in lower case, and the bot that it names. Undefined: none. */
export function commandAtStart({ entities }: MessageText) {
  const first = entities.find(({ type, offset }) => type === 'bot_command' && offset === 0);
  if (!first) return undefined;
  const [name = '', bot] = first.text.slice(1).split('@');
  return { name: name.toLowerCase(), bot };
}

/** The name of a bot has no distinction of case. */
export function isName(text: string, { name }: ChannelIdentity): boolean {
  return name !== '' && text.replace('@', '').toLowerCase() === name.replace('@', '').toLowerCase();
}
