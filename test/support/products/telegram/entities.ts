import type { MessageEntity, User } from 'grammy/types';
import type { FormattedText } from './html.ts';

const MENTION = /(?<![\p{L}\p{N}_])@[a-z0-9_]{2,32}(?![\p{L}\p{N}_])/giu;
const BOT_COMMAND = /(?<![\p{L}\p{N}_/<>])\/[a-z0-9_]{1,64}(?:@[a-z0-9_]{3,32})?(?![\p{L}\p{N}_/<>@])/giu;
const URL_TEXT = /https?:\/\/[^\s<>"]+/gi;
const MAX_ENTITIES = 100;

/** Adds the entities that the product finds in the text itself, except within the given ones. */
export function detectEntities({ text, entities }: FormattedText): MessageEntity[] {
  const found: MessageEntity[] = [];
  for (const [type, pattern] of [
    ['url', URL_TEXT],
    ['bot_command', BOT_COMMAND],
    ['mention', MENTION],
  ] as const) {
    for (const match of text.matchAll(pattern)) {
      const entity: MessageEntity = { type, offset: match.index, length: match[0].length };
      const isTaken = [...entities.filter(isOpaque), ...found].some((other) => overlaps(other, entity));
      if (!isTaken) found.push(entity);
    }
  }
  return [...entities, ...found]
    .sort((one, other) => one.offset - other.offset || other.length - one.length)
    .slice(0, MAX_ENTITIES);
}

/** Removes space around the text, as the product does, and moves its entities. */
export function trimmed({ text, entities }: FormattedText): FormattedText {
  const end = text.trimEnd().length;
  const start = text.length - text.trimStart().length;
  const kept = entities.flatMap((entity) => {
    const from = Math.max(entity.offset, start);
    const until = Math.min(entity.offset + entity.length, end);
    return until > from ? [{ ...entity, offset: from - start, length: until - from }] : [];
  });
  return { text: text.slice(start, Math.max(start, end)), entities: kept };
}

/** Whether the text mentions the bot by its username. */
export function mentions(bot: User, { text, entities }: FormattedText): boolean {
  const name = `@${bot.username}`.toLowerCase();
  return entities.some(
    ({ type, offset, length }) =>
      type === 'mention' && text.slice(offset, offset + length).toLowerCase() === name,
  );
}

/** The commands of the text with the username that they address, if they name one, in lower case. */
export function commandsIn({ text, entities }: FormattedText): { addressee: string | undefined }[] {
  return entities
    .filter(({ type }) => type === 'bot_command')
    .map(({ offset, length }) => ({
      addressee: text
        .slice(offset, offset + length)
        .split('@')[1]
        ?.toLowerCase(),
    }));
}

/** No entities are found within code and links. */
const isOpaque = ({ type }: MessageEntity) => ['code', 'pre', 'text_link'].includes(type);
const overlaps = (one: MessageEntity, other: MessageEntity) =>
  one.offset < other.offset + other.length && other.offset < one.offset + one.length;
