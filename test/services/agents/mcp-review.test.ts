import { describe, expect, it } from 'vitest';
import { withEffects } from '../../../services/agents/domain/mcp-review.ts';

describe('withEffects', () => {
  const toolOf = (name: string, annotations: object) => ({
    ...{ name, title: '', description: '', input_schema: {}, output_schema: null },
    annotations: { ...annotations },
  });
  const tools = [
    toolOf('reads', { readOnlyHint: true }),
    toolOf('repeats', { idempotentHint: true }),
    toolOf('acts', {}),
    toolOf('decided', { readOnlyHint: true }),
  ];
  const rules = tools.map(({ name }) => ({
    ...{ name, offered: true, permission: 'ask' },
    effect: name === 'decided' ? 'once' : '',
  }));

  it.each([
    [true, ['read', 'idempotent', 'once', 'once']],
    [false, ['once', 'once', 'once', 'once']],
  ])('fills in missing effects, with annotations that are trusted: %s', (trustAnnotations, expected) => {
    const filled = withEffects(rules, { title: '', instructions: '', tools }, { trustAnnotations });
    expect(filled.map(({ effect }) => effect)).toEqual(expected);
  });
});
