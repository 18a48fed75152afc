import { endOfString } from './json.ts';

/**
 * The text of a member of an object, as it stands in a JSON text that has been read before, on one line: only the
 * space between its parts is left out. Undefined when the object has no such member.
 */
export function memberText(text: string, name: string): string | undefined {
  let depth = 0;
  let isWanted = false;
  let begin = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text[i]) {
      case '"': {
        const end = endOfString(text, i);
        if (depth === 1 && begin === 0) isWanted = JSON.parse(text.slice(i, end + 1)) === name;
        i = end;
        break;
      }
      case ':':
        if (depth === 1) begin = i + 1;
        break;
      case '{':
      case '[':
        depth++;
        break;
      case '}':
      case ']':
        depth--;
        if (depth === 0 && isWanted) return compact(text.slice(begin, i));
        break;
      case ',':
        if (depth !== 1) break;
        if (isWanted) return compact(text.slice(begin, i));
        begin = 0;
    }
  }
  return undefined;
}

const STRING_OR_SPACE = /("(?:[^"\\]|\\.)*")|\s+/g;
const compact = (json: string) => json.replace(STRING_OR_SPACE, '$1');
