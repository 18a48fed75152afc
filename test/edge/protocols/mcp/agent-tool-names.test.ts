import { describe, expect, it } from 'vitest';
import { agentToolNames, parseAgentToolName } from '../../../../edge/protocols/mcp/agent-tool-names.ts';

const ID = 'agt_01KAK3V9Q6W1X2Y3Z4A5B6C7D8';
const named = (name: string, agentId = ID) => ({ agentId, name });
const nameOf = (name: string) => agentToolNames([named(name)]).get(ID);

describe('agentToolNames', () => {
  it.each([
    ['Support', 'ask_support_c7d8'],
    ['Böse Émile 2', 'ask_b_se__mile_2_c7d8'],
    ['日本語', 'ask_____c7d8'],
    ['👋 hi', 'ask___hi_c7d8'],
    ['x'.repeat(60), `ask_${'x'.repeat(40)}_c7d8`],
  ])('makes the name of the agent %s', (name, expected) => {
    expect(nameOf(name)).toBe(expected);
    expect(expected.length).toBeLessThanOrEqual(64);
  });

  it('takes more characters of ids that end alike, for agents with the same name', () => {
    const other = 'agt_01KAK3V9Q6W1X2Y3Z4A5BZC7D8';
    const third = 'agt_01KAK3V9Q6W1X2Y3Z4A5B6C7D9';
    const agents = [named('A b'), named('a-b', other), named('a.b', third), named('Other', other)];
    expect([...agentToolNames(agents.slice(0, 3)).values()]).toEqual([
      'ask_a_b_6c7d8',
      'ask_a_b_zc7d8',
      'ask_a_b_c7d9',
    ]);
    expect(agentToolNames([named('A'), named('B', other)]).get(other)).toBe('ask_b_c7d8');
  });

  it('takes all characters that distinguish ids which differ in the first one only', () => {
    const other = `agt_1${ID.slice(5)}`;
    const names = agentToolNames([named('A'), named('A', other)]);
    expect(new Set(names.values()).size).toBe(2);
  });
});

describe('parseAgentToolName', () => {
  it.each(['Support', 'Böse Émile 2', '日本語', '_', '9', 'x'.repeat(60)])(
    'recognises the agent %s by the name of its tool',
    (name) => {
      const parsed = parseAgentToolName(nameOf(name) ?? '');
      expect(parsed?.matches(named(name))).toBe(true);
      expect(parsed?.matches(named(`${name}x`))).toBe(name.length > 40);
      expect(parsed?.matches(named(name, 'agt_01KAK3V9Q6W1X2Y3Z4A5B6C7D9'))).toBe(false);
      expect(name.toLowerCase()).toContain(parsed?.searchText);
    },
  );

  it.each(['ask', 'ask_', 'ask_x', 'ask_a_abc', 'ASK_a_abcd', 'ask_ä_abcd', 'list_agents'])(
    'takes %s for the name of no agent',
    (name) => expect(parseAgentToolName(name)).toBeUndefined(),
  );
});
