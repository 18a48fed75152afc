import { describe, expect, it } from 'vitest';
import { DEMO_AGENT } from '../../console/pages/home/demo-agent.ts';
import { isToolName, TOOLS } from '../../lib/tools.ts';
import { readSteps } from '../../services/runner/models/rehearsal/steps.ts';

const MAX_STREAM_MS = 15_000;

describe('the demo agent', () => {
  const steps = readSteps(DEMO_AGENT.model_options);
  const calls = steps.flatMap((step) => (step.kind === 'tool' ? [step] : []));
  const inputOf = (tool: string, path: string) =>
    calls.find((call) => call.tool === tool && (call.input as { path: string }).path === path)?.input as
      | Record<string, string>
      | undefined;

  it('calls built-in tools that need no sandbox, one of them with an approval', () => {
    const asked = DEMO_AGENT.tools.map(({ name }) => name);
    expect(calls.every(({ tool }) => isToolName(tool) && tool !== 'bash')).toBe(true);
    expect(calls.filter(({ tool }) => asked.includes(tool)).map(({ tool }) => tool)).toEqual(['edit_file']);
    expect(TOOLS.write_file.permission).toBe('allow');
  });

  it('completes the report that it has written before', () => {
    const draft = inputOf('write_file', 'report.md')?.content ?? '';
    const placeholder = inputOf('edit_file', 'report.md')?.old_text ?? '';
    expect(draft.split(placeholder)).toHaveLength(2);
    expect(inputOf('write_file', 'visitors.csv')).toBeDefined();
    expect(inputOf('read_file', 'visitors.csv')).toBeDefined();
  });

  it('thinks, and streams its texts in a few seconds', () => {
    const streamMs = steps.reduce((sum, step) => {
      if (step.kind !== 'text') return sum;
      return sum + Math.ceil(step.text.length / (step.chunkChars ?? step.text.length)) * step.delayMs;
    }, 0);
    expect(steps.some(({ kind }) => kind === 'thinking')).toBe(true);
    expect(streamMs).toBeGreaterThan(1_000);
    expect(streamMs).toBeLessThan(MAX_STREAM_MS);
  });
});
