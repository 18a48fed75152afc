export interface TextPart {
  text: string;
  /** The part is the code point of an invisible or control character. */
  isMark: boolean;
}

/** The characters that the service warns about: format, control and several variation selector characters. */
const HIDDEN = /(\p{Cf}|\u034f|\p{Variation_Selector}{2,}|(?![\t\n\r])\p{Cc})/u;

const codePointOf = (character: string) =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Divides a text into visible parts and the code points of characters that are not visible. */
export function visibleParts(text: string): TextPart[] {
  // Odd parts are matches of the expression.
  return text
    .split(HIDDEN)
    .flatMap((part, index) =>
      index % 2 === 1
        ? [...part].map((character) => ({ text: codePointOf(character), isMark: true }))
        : [{ text: part, isMark: false }],
    )
    .filter((part) => part.text !== '');
}
