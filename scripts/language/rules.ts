/** Words and sentence forms that the style guide rules out. See docs/STYLE.md. */
interface LanguageRule {
  name: string;
  pattern: RegExp;
  advice: string;
}

const noun = (word: string, advice: string): LanguageRule => ({
  name: word,
  pattern: new RegExp(`(?<![\\w-])${word}(?![\\w-])`, 'i'),
  advice,
});

export const LANGUAGE_RULES: readonly LanguageRule[] = [
  noun('somebody', 'name the subject: "the user", "another client", "an administrator"'),
  noun('nobody', 'name the subject and negate the verb: "no client reads it"'),
  noun('whoever', 'name the subject: "the caller", "a user who …"'),
  noun('everybody', 'name the group: "all users", "every reader"'),
  noun('whatever', 'name the thing, or leave the clause out'),
  {
    name: 'what is',
    // "What is" may begin a question, but not a statement: "What is sent is kept".
    pattern:
      /(?:^[\s#>*-]*(?:\d+\.\s+)?|[.!?:;,(—–|]\s+|\n\s*\n\s*)what\s+(?:is|are|was|were|has|have)\b(?![^.!?]*\?)/i,
    advice: 'begin with the thing itself: "Sent messages are kept"',
  },
];

export interface Violation {
  rule: LanguageRule;
  /** The words that break the rule. */
  excerpt: string;
  /** Lines between the start of the text and the excerpt. */
  line: number;
}

/** Returns each use of a ruled-out form. Inline code, quoted text and lines of /etc/passwd are exempt: they are third-party text. */
export function violationsOf(text: string): Violation[] {
  const prose = text.replace(/`[^`]*`|“[^”]*”|^[a-z]+:x:\d*:.*$/gm, (quoted) =>
    quoted.replace(/[^\n]/g, '·'),
  );
  return LANGUAGE_RULES.flatMap((rule) => {
    const found: Violation[] = [];
    for (const match of prose.matchAll(new RegExp(rule.pattern.source, 'gi'))) {
      const line = prose.slice(0, match.index).split('\n').length - 1;
      found.push({ rule, excerpt: excerptAt(text, match.index, match[0].length), line });
    }
    return found;
  });
}

const MARGIN = 30;

function excerptAt(text: string, index: number, length: number): string {
  return text
    .slice(Math.max(0, index - MARGIN), index + length + MARGIN)
    .replace(/\s+/g, ' ')
    .trim();
}
