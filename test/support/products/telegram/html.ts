import type { MessageEntity } from 'grammy/types';
import { badRequest } from './errors.ts';

export interface FormattedText {
  text: string;
  entities: MessageEntity[];
}

interface OpenTag {
  name: string;
  attributes: Map<string, string>;
  /** Offset in the text, in UTF-16 units. */
  offset: number;
}

type EntityType = Exclude<MessageEntity['type'], 'text_mention'>;

const TYPES: Record<string, EntityType | undefined> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  'tg-spoiler': 'spoiler',
  span: 'spoiler',
  code: 'code',
  pre: 'pre',
  blockquote: 'blockquote',
  a: 'text_link',
  'tg-emoji': 'custom_emoji',
};
const REFERENCES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"' };

/**
 * Parses the parse mode HTML. Refuses with the product's texts, which state offsets in UTF-8 bytes. The text is not trimmed.
 */
export function parseHtml(html: string): FormattedText {
  let position = 0;
  let text = '';
  const open: OpenTag[] = [];
  const entities: MessageEntity[] = [];

  const byteOffset = (at: number) => Buffer.byteLength(html.slice(0, at));
  const refuse = (problem: string) => badRequest(`can't parse entities: ${problem}`);
  function skip(pattern: RegExp): string {
    const start = position;
    while (position < html.length && pattern.test(html[position] ?? '')) position++;
    return html.slice(start, position);
  }

  function readValue(tag: string, start: number): string {
    skip(/\s/);
    const quote = html[position] ?? '';
    if (quote === '') throw refuse(`Unclosed start tag "${tag}" at byte offset ${byteOffset(start)}`);
    if (quote !== '"' && quote !== "'") {
      const token = position;
      const value = skip(/[a-z0-9.-]/i);
      if (!/[\s>]/.test(html[position] ?? ''))
        throw refuse(`Unexpected end of name token at byte offset ${byteOffset(token)}`);
      return value.toLowerCase();
    }
    const end = html.indexOf(quote, position + 1);
    if (end < 0) throw refuse(`Unclosed start tag at byte offset ${byteOffset(start)}`);
    const value = html.slice(position + 1, end);
    position = end + 1;
    return decodeReferences(value);
  }

  function readStartTag(start: number): void {
    position++;
    const name = skip(/[^\s>]/).toLowerCase();
    if (position >= html.length) throw refuse(`Unclosed start tag at byte offset ${byteOffset(start)}`);
    if (TYPES[name] === undefined)
      throw refuse(`Unsupported start tag "${name}" at byte offset ${byteOffset(start)}`);
    const attributes = new Map<string, string>();
    for (;;) {
      skip(/\s/);
      if (html[position] === '>') break;
      const attribute = skip(/[^\s>=]/).toLowerCase();
      if (attribute === '' && position < html.length)
        throw refuse(`Empty attribute name in the tag "${name}" at byte offset ${byteOffset(start)}`);
      skip(/\s/);
      if (position >= html.length)
        throw refuse(`Unclosed start tag "${name}" at byte offset ${byteOffset(start)}`);
      if (html[position] !== '=') attributes.set(attribute, '');
      else {
        position++;
        attributes.set(attribute, readValue(name, start));
      }
    }
    position++;
    if (name === 'span' && attributes.get('class') !== 'tg-spoiler')
      throw refuse(`Tag "span" must have class "tg-spoiler" at byte offset ${byteOffset(start)}`);
    open.push({ name, attributes, offset: text.length });
  }

  function readEndTag(start: number): void {
    const tag = open.pop();
    if (!tag) throw refuse(`Unexpected end tag at byte offset ${byteOffset(start)}`);
    position += 2;
    const name = skip(/[^\s>]/).toLowerCase();
    skip(/\s/);
    if (html[position] !== '>') throw refuse(`Unclosed end tag at byte offset ${byteOffset(start)}`);
    position++;
    if (name !== '' && name !== tag.name) {
      const expected = `expected "</${tag.name}>", found "</${name}>"`;
      throw refuse(`Unmatched end tag at byte offset ${byteOffset(start)}, ${expected}`);
    }
    const entity = entityOf(tag, text.slice(tag.offset));
    if (entity) entities.push(entity);
  }

  while (position < html.length) {
    const start = position;
    if (html[start] === '<') html[start + 1] === '/' ? readEndTag(start) : readStartTag(start);
    else if (html[start] === '&') {
      const reference = /^&(?:#\d+|#x[0-9a-f]+|[a-z]+);?/i.exec(html.slice(start))?.[0] ?? '&';
      const known = /^&(?:lt|gt|amp|quot);?/.exec(reference)?.[0] ?? reference;
      text += decodeReferences(known);
      position += known.length;
    } else {
      text += html[start];
      position++;
    }
  }
  const unclosed = open.at(-1);
  if (unclosed) throw refuse(`Can't find end tag corresponding to start tag "${unclosed.name}"`);
  return { text, entities: mergeCode(entities.sort(byPosition)) };
}

const byPosition = (one: MessageEntity, other: MessageEntity) =>
  one.offset - other.offset || other.length - one.length;

function entityOf({ name, attributes, offset }: OpenTag, content: string): MessageEntity | undefined {
  const type = TYPES[name];
  const place = { offset, length: content.length };
  if (content === '' || type === undefined) return undefined;
  if (type === 'text_link') {
    const url = normalizedUrl(attributes.get('href') || content);
    return url === undefined ? undefined : { type, ...place, url };
  }
  if (type === 'custom_emoji') return { type, ...place, custom_emoji_id: attributes.get('emoji-id') ?? '' };
  if (type === 'blockquote' && attributes.has('expandable'))
    return { type: 'expandable_blockquote', ...place };
  const language = attributes.get('class')?.match(/^language-(.+)$/)?.[1];
  // A language of <code> counts only together with <pre>; `mergeCode` resolves it.
  if (type === 'code' && language !== undefined) return { type: 'pre', ...place, language };
  return { type, ...place } as MessageEntity;
}

/** `<pre><code class="language-x">` is one entity. `<code class="language-x">` alone is plain code. */
function mergeCode(entities: MessageEntity[]): MessageEntity[] {
  const isPlainPre = (one: MessageEntity) => one.type === 'pre' && one.language === undefined;
  const isSamePlace = (one: MessageEntity, other: MessageEntity) =>
    one.offset === other.offset && one.length === other.length;
  return entities.flatMap((entity): MessageEntity[] => {
    const isWithLanguage = entity.type === 'pre' && entity.language !== undefined;
    const others = entities.filter((other) => other !== entity && isSamePlace(entity, other));
    if (isWithLanguage && !others.some(isPlainPre))
      return [{ type: 'code', offset: entity.offset, length: entity.length }];
    const isMerged =
      isPlainPre(entity) && others.some((one) => one.type === 'pre' && one.language !== undefined);
    return isMerged ? [] : [entity];
  });
}

function normalizedUrl(text: string): string | undefined {
  const url = /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `http://${text}`;
  const isUsable = URL.canParse(url) && (/^tg:/.test(url) || new URL(url).hostname.includes('.'));
  return isUsable && !/\s/.test(text) ? new URL(url).href : undefined;
}

function decodeReferences(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(lt|gt|amp|quot));?/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return REFERENCES[name.toLowerCase()] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code < 0x10ffff ? String.fromCodePoint(code) : all;
  });
}
