import { describe, expect, it } from 'vitest';
import { parseSkillIds, pinSkills } from '../../../../services/agents/domain/skill-extensions.ts';

const idOf = (number: number) => `skl_01KAK3V9Q6W1X2Y3Z4A5B6C7${String(number).padStart(2, '0')}`;
const skillOf = (number: number, description: string) => ({
  ...{
    skillId: idOf(number),
    name: `skill-${number}`,
    enabled: true,
    newest: 1,
    description,
    workspaceId: 'wsp_1',
  },
});
const pin = (count: number, description: string) => {
  const newest = Array.from({ length: count }, (_, at) => skillOf(at, description));
  const chosen = parseSkillIds(newest.map(({ skillId }) => skillId));
  return pinSkills(chosen, { before: [], newest, versions: [] });
};

describe('the skills of an agent', () => {
  it('have at most 16 KiB in the system prompt, with their markup', () => {
    expect(pin(15, 'd'.repeat(1_024))).toHaveLength(15);
    expect(() => pin(16, 'd'.repeat(1_024))).toThrow('at most 16 KiB');
    // Escaped characters count as they are sent.
    expect(() => pin(5, '<'.repeat(1_024))).toThrow('at most 16 KiB');
  });

  it('are at most 50, each named once', () => {
    expect(pin(50, 'Short.')).toHaveLength(50);
    expect(() => pin(51, 'Short.')).toThrow('must have at most 50 items');
    expect(() => parseSkillIds([idOf(1), `${idOf(1)}@2`])).toThrow('must not repeat');
  });

  it.each(['', 'skl_', 'mcp_01KAK3V9Q6W1X2Y3Z4A5B6C7D8', `${idOf(1)}@0`, `${idOf(1)}@1.5`, `${idOf(1)}@`])(
    'have no id such as "%s"',
    (text) =>
      expect(() => parseSkillIds([text])).toThrow(expect.objectContaining({ code: 'SKILL_NOT_FOUND' })),
  );
});
