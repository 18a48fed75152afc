import { describe, expect, it } from 'vitest';
import {
  agentDraftOf,
  EMPTY_AGENT_DRAFT,
  readAgentDraft,
  readNewAgentDraft,
} from '../../../console/parts/editor/agent-draft.ts';

describe('readAgentDraft', () => {
  it('restores all settings of an agent from its form, and reports errors of a client tool by its row', () => {
    const settings = {
      ...readAgentDraft(EMPTY_AGENT_DRAFT).body,
      model: 'rehearsal/script',
      models: ['rehearsal/script', 'rehearsal/echo'],
      tools: [
        { name: 'bash', permission: 'ask' as const },
        {
          type: 'client' as const,
          name: 'lookup',
          description: 'Looks up.',
          input_schema: { type: 'object' },
        },
      ],
      output_schema: false,
      overridable: ['model' as const],
      context: {
        ...{ strategy: 'drop_tool_results' as const, threshold: 0.5, keep_turns: 2, window: 8_000 },
        ...{ model: 'rehearsal/echo', instructions: 'Keep names.' },
      },
    };
    const draft = agentDraftOf(settings);
    expect(readAgentDraft(draft).body).toEqual(settings);
    const clientTools = [{ rowId: 7, name: ' ', description: '', inputSchema: '' }];
    expect(Object.keys(readAgentDraft({ ...draft, clientTools }).problems)).toEqual(
      expect.arrayContaining(
        ['name', 'description', 'input_schema'].map((field) => `/client_tools/7/${field}`),
      ),
    );
  });

  it('omits the defaults of long conversations, and reports numbers out of range at their fields', () => {
    expect(readAgentDraft(EMPTY_AGENT_DRAFT).body.context).toEqual({});
    expect(readNewAgentDraft(EMPTY_AGENT_DRAFT).body).not.toHaveProperty('context');
    const draft = { ...EMPTY_AGENT_DRAFT, contextThreshold: ' .5 ', contextKeepTurns: '4' };
    expect(readNewAgentDraft(draft).body.context).toEqual({ threshold: 0.5, keep_turns: 4 });
    for (const threshold of ['0.09', '0.96', '0,5', '-0.5', 'half'])
      expect(readAgentDraft({ ...draft, contextThreshold: threshold }).problems, threshold).toHaveProperty([
        '/context/threshold',
      ]);
    const { problems } = readAgentDraft({ ...draft, contextKeepTurns: '1.5', contextWindow: '999' });
    expect(problems).toHaveProperty(['/context/keep_turns']);
    expect(problems).toHaveProperty(['/context/window']);
  });
});
