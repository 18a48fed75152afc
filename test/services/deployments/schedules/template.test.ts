import { describe, expect, it } from 'vitest';
import { promptValues } from '../../../../services/deployments/domain/schedules/prompt-values.ts';
import {
  PLACEHOLDERS,
  type PromptValues,
  parsePrompt,
  renderPrompt,
} from '../../../../services/deployments/domain/schedules/template.ts';

const CONTEXT = {
  scheduledFor: new Date('2026-03-29T01:00:00Z'),
  timezone: 'Europe/Berlin',
  runId: 'run_1',
  runNumber: 7,
  previousRun: {
    status: 'failed',
    scheduledFor: new Date('2026-03-28T01:30:00Z'),
    sessionId: 'ses_1',
  },
  agentName: 'Reporter',
  name: 'Morning report',
};

const render = (text: string, more: Partial<PromptValues> = {}) =>
  renderPrompt(text, { ...promptValues(CONTEXT), ...more });

describe('prompts of schedules', () => {
  it.each([
    ['{{scheduled_for}}', '2026-03-29T01:00:00Z'],
    ['{{scheduled_for_local}}', '2026-03-29T03:00:00+02:00'],
    ['{{date}}', '2026-03-29'],
    ['{{timezone}}', 'Europe/Berlin'],
    ['{{run_id}}', 'run_1'],
    ['{{run_number}}', '7'],
    ['{{previous_run.status}}', 'failed'],
    ['{{previous_run.scheduled_for}}', '2026-03-28T01:30:00Z'],
    ['{{previous_run.session_id}}', 'ses_1'],
    ['{{agent_name}}', 'Reporter'],
    ['{{name}}', 'Morning report'],
    ['Report {{ date }} of {{name}}.', 'Report 2026-03-29 of Morning report.'],
  ])('replace %s', (text, rendered) => {
    expect(render(text)).toBe(rendered);
  });

  it('give empty text for a previous run that does not exist', () => {
    const first = promptValues({ ...CONTEXT, previousRun: undefined });
    expect(renderPrompt('[{{previous_run.status}}{{previous_run.session_id}}]', first)).toBe('[]');
  });

  it('write {{{{ as {{ and leave other braces', () => {
    expect(render('{{{{date}} } }} {')).toBe('{{date}} } }} {');
    expect(render('{{{{{{date}}')).toBe('{{2026-03-29');
  });

  it('never replace placeholders in values', () => {
    expect(render('{{name}} {{date}}', { name: '{{date}} {{{{ $& $1' })).toBe(
      '{{date}} {{{{ $& $1 2026-03-29',
    );
  });

  it('know all values of the closed list', () => {
    expect(Object.keys(promptValues(CONTEXT)).sort()).toEqual([...PLACEHOLDERS].sort());
  });

  it.each([
    ['{{foo}}', 'at line 1, character 1', '{{foo}}'],
    ['ab\n  😀{{ Date }}', 'at line 2, character 4', '{{ Date }}'],
    ['{{date}} {{constructor}}', 'at line 1, character 10', '{{constructor}}'],
    ['{{previous_run}}', 'at line 1, character 1', '{{previous_run}}'],
    ['a {{', 'at line 1, character 3', '{{ without }}'],
    ['{{{date}}}', 'at line 1, character 1', '{{ without }}'],
    ['{{}}', 'at line 1, character 1', '{{}}'],
    ['{{date}}'.repeat(101), 'at line 1, character 801', 'more than 100 placeholders'],
  ])('are refused for %j with the position', (text, position, fault) => {
    expect(() => parsePrompt(text)).toThrow(
      expect.objectContaining({
        code: 'INVALID_SCHEDULE',
        message: expect.stringMatching(
          new RegExp(`^/prompt ${position}: .*${fault.replace(/[{}]/g, '\\$&')}`),
        ),
      }),
    );
  });
});
