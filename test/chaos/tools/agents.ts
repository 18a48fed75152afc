import type { AgentRuntime } from '../../../proto/gen/ahs/agents/v1/agents.ts';

const call = (tool: string) => ({ tool, input: { key: '{{input}}' } });
const END = { text: 'done {{input}}' };

/** Scripts with sequential and concurrent tool calls. `needsApproval` names the tools that need an approval. */
const SCRIPTS: { steps: unknown[]; needsApproval?: string[] }[] = [
  { steps: [call('count_ask')] },
  { steps: [call('count_tell')] },
  { steps: [call('count_again')] },
  { steps: [call('count_ask'), call('count_tell'), call('count_again')] },
  { steps: [call('count_ask'), { text: 'and again: {{last_tool_output}}' }, call('count_ask')] },
  { steps: [call('count_ask'), call('count_again')], needsApproval: ['count_ask'] },
  { steps: [call('count_connect'), call('count_connect'), call('count_input')] },
  { steps: [call('count_input'), call('count_again')], needsApproval: ['count_input'] },
  { steps: [call('count_tell'), call('count_ask')], needsApproval: ['count_tell', 'count_ask'] },
];

export const RUNTIMES: readonly Partial<AgentRuntime>[] = SCRIPTS.map(({ steps, needsApproval = [] }) => ({
  model: 'rehearsal/script',
  modelOptionsJson: JSON.stringify({ steps: [...steps, END] }),
  tools: needsApproval.map((name) => ({ name, permission: 'ask' })),
}));
