import { describe, expect, it } from 'vitest';
import {
  agentDraftOf,
  EMPTY_AGENT_DRAFT,
  readAgentDraft,
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
      context: { threshold: 0.5 },
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
});
