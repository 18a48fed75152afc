import { type Refusal, refuse } from '../../../lib/errors.ts';

/** Why an archive is no skill. */
export class SkillProblem extends Error {
  /** The path in the archive; empty for the whole archive. */
  readonly path: string;

  /** `message` is the end of a sentence about the path, for example "must not be a link". */
  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

const MAX_SHOWN = 200;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The refusal SKILL_INVALID. Its pointer is the path in the archive. */
export function skillInvalid({ path, message }: { path: string; message: string }): Refusal {
  const shown = shownPath(path);
  const subject = shown === '' ? 'The archive' : `\`${shown}\``;
  return refuse('SKILL_INVALID', `${subject} ${message}.`, { details: [{ pointer: shown, message }] });
}

/** The path without characters that change how a text is displayed, and with a limited length. */
export function shownPath(path: string): string {
  const text = path.toWellFormed().replaceAll(UNPRINTABLE, '\ufffd');
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text;
}
