/** The text about skills in a system prompt. Its length is limited where skills are chosen, and a runner writes it. */

export const MAX_SKILL_PROMPT_BYTES = 16 * 1024;

interface OfferedSkill {
  name: string;
  version: number;
  description: string;
}

/** One element for each skill, in the order of their names. Empty without skills. */
export function skillPrompt(skills: readonly OfferedSkill[]): string {
  return skills
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(
      ({ name, version, description }) =>
        `<skill name="${name}" version="${version}">${escapeText(description)}</skill>`,
    )
    .join('\n');
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
