import type { AgentRuntime } from '../../../proto/gen/ahs/agents/v1/agents.ts';

const call = (tool: string) => ({ tool, input: { key: '{{input}}' } });
const END = { text: 'done {{input}}' };

/** What agents do with tools, one after the other and side by side, allowed and asked for. */
const SCRIPTS: { steps: unknown[]; asked?: string[] }[] = [
  { steps: [call('count_ask')] },
  { steps: [call('count_tell')] },
  { steps: [call('count_again')] },
  { steps: [call('count_ask'), call('count_tell'), call('count_again')] },
  { steps: [call('count_ask'), { text: 'and again: {{last_tool_output}}' }, call('count_ask')] },
  { steps: [call('count_ask'), call('count_again')], asked: ['count_ask'] },
  { steps: [call('count_tell'), call('count_ask')], asked: ['count_tell', 'count_ask'] },
];

export const RUNTIMES: readonly Partial<AgentRuntime>[] = SCRIPTS.map(({ steps, asked = [] }) => ({
  model: 'rehearsal/script',
  modelOptionsJson: JSON.stringify({ steps: [...steps, END] }),
  tools: asked.map((name) => ({ name, permission: 'ask' })),
}));
