import { decodeBase64 } from './base64.ts';

/** The decoded `data` of parts that were taken out of a body, by index of the part; undefined for invalid Base64. */
export type InlineData = ReadonlyMap<number, Buffer | undefined>;

export const NO_INLINE_DATA: InlineData = new Map();

/** Shorter bodies are parsed as they are. */
const MIN_BODY_BYTES = 64 * 1024;
/** Shorter texts stay in the body. */
const MIN_TEXT_BYTES = 8 * 1024;
const MAX_DEPTH = 100;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The position in an object or array. */
interface Level {
  isObject: boolean;
  /** The current member of an object. */
  name: string;
  /** The current item of an array. */
  index: number;
}

/** The members of a body that hold the parts of a message. */
const PARTS = new Set(['/content', '/message', '/message/content']);

/**
 * Takes the `data` of the parts of a message out of a JSON body, before the body is decoded and parsed: a text of several
 * megabytes would otherwise be in memory four times. The data is a view of the body, which is overwritten. An empty text
 * stays in its place. Malformed bodies are not refused here.
 */
export function takeInlineData(body: Buffer): { json: Buffer; inlineData: InlineData } {
  if (body.length < MIN_BODY_BYTES) return { json: body, inlineData: NO_INLINE_DATA };
  const inlineData = new Map<number, Buffer | undefined>();
  const pieces: Buffer[] = [];
  let copied = 0;
  for (const { index, begin, end } of longTexts(body)) {
    inlineData.set(index, decodeBase64(body.subarray(begin, end)));
    pieces.push(body.subarray(copied, begin));
    copied = end;
  }
  if (copied === 0) return { json: body, inlineData: NO_INLINE_DATA };
  return { json: Buffer.concat([...pieces, body.subarray(copied)]), inlineData };
}

interface LongText {
  /** The index of the part. */
  index: number;
  /** The range of the text without its quotes. */
  begin: number;
  end: number;
}

/** Finds the long texts without escapes that are the `data` of a part. */
function* longTexts(body: Buffer): Generator<LongText> {
  const levels: Level[] = [];
  let expectsName = false;
  for (let i = 0; i < body.length; i++) {
    const level = levels.at(-1);
    switch (body[i]) {
      case QUOTE: {
        const begin = i + 1;
        const end = endOfText(body, begin);
        if (end < 0) return;
        i = end;
        if (expectsName && level) {
          level.name = end - begin > 'content'.length ? '' : body.toString('latin1', begin, end);
          expectsName = false;
        } else if (
          end - begin >= MIN_TEXT_BYTES &&
          isPartData(levels) &&
          !body.subarray(begin, end).includes(BACKSLASH)
        ) {
          yield { index: levels.at(-2)?.index ?? 0, begin, end };
        }
        break;
      }
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (levels.length === MAX_DEPTH) return;
        expectsName = body[i] === OPEN_BRACE;
        levels.push({ isObject: expectsName, name: '', index: 0 });
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        levels.pop();
        expectsName = false;
        break;
      case COMMA:
        expectsName = level?.isObject === true;
        if (level && !level.isObject) level.index++;
    }
  }
}

/** Whether the position is the member `data` of an item of the parts of a message. */
function isPartData(levels: readonly Level[]): boolean {
  const [part, list, ...owners] = levels.toReversed();
  if (!part?.isObject || part.name !== 'data' || !list || list.isObject) return false;
  const isInObjects = owners.length > 0 && owners.every(({ isObject }) => isObject);
  return isInObjects && PARTS.has(owners.reduce((path, { name }) => `/${name}${path}`, ''));
}

function endOfText(body: Buffer, begin: number): number {
  for (let end = body.indexOf(QUOTE, begin); end >= 0; end = body.indexOf(QUOTE, end + 1)) {
    let backslashes = 0;
    while (body[end - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}
