import type { ModelMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { estimateTextTokens } from '../../../../lib/token-estimate.ts';
import {
  type EstimatedPrompt,
  estimateMessageTokens,
  estimatePromptTokens,
} from '../../../../services/runner/context/estimate-tokens.ts';
import { userParts } from '../../../../services/runner/parts/reference.ts';

const PROSE = 'The quick brown fox jumps over the lazy dog near the river bank. ';

describe('the estimate of a text', () => {
  it('is 0 for an empty text', () => {
    expect(estimateTextTokens('')).toBe(0);
  });

  it('is between a fifth and a half of the characters of English prose', () => {
    const text = PROSE.repeat(100);
    expect(estimateTextTokens(text)).toBeGreaterThan(text.length / 5);
    expect(estimateTextTokens(text)).toBeLessThan(text.length / 2);
  });

  it('is about one token for a Chinese character', () => {
    expect(estimateTextTokens('東'.repeat(700))).toBe(600);
  });
});

describe('the estimate of a message', () => {
  const of = (content: unknown, role = 'user') => estimateMessageTokens({ role, content } as ModelMessage);

  it('grows with each text', () => {
    const one = of([{ type: 'text', text: PROSE }]);
    const two = of([
      { type: 'text', text: PROSE },
      { type: 'text', text: PROSE },
    ]);
    expect(two - one).toBe(estimateTextTokens(PROSE));
    expect(of(PROSE)).toBe(one);
  });

  it('has the input of calls and the output of tools', () => {
    const input = { path: 'a'.repeat(3_500) };
    const call = { type: 'tool-call', toolCallId: 'call_1', toolName: 'read_file', input };
    expect(of([call], 'assistant')).toBeGreaterThan(1_000);
    const result = (output: unknown) =>
      of([{ type: 'tool-result', toolCallId: 'call_1', toolName: 'read_file', output }], 'tool');
    expect(result({ type: 'text', value: 'a'.repeat(3_500) })).toBeGreaterThan(1_000);
    expect(result({ type: 'json', value: { lines: ['a'.repeat(3_500)] } })).toBeGreaterThan(1_000);
    const text = { type: 'text', text: 'a'.repeat(3_500) };
    expect(result({ type: 'content', value: [text] })).toBeGreaterThan(1_000);
    expect(result({ type: 'text', value: '' })).toBeLessThan(20);
  });

  it('has the same tokens for an image of any size, loaded or not', () => {
    const journaled = (size: number) => ({
      type: 'image' as const,
      media_type: 'image/png',
      sha256: 'a'.repeat(64),
      size,
    });
    const reference = (size: number) => of(userParts([journaled(size)]));
    const data = { type: 'data', data: Buffer.alloc(5_000_000) };
    const loaded = of([{ type: 'file', mediaType: 'image/png', data }]);
    expect(reference(100)).toBe(loaded);
    expect(reference(5_000_000)).toBe(loaded);
    expect(loaded).toBeGreaterThan(1_000);
  });

  it('grows with the size of a file, whose Base64 is not counted', () => {
    const file = (mediaType: string, bytes: number) =>
      of([{ type: 'file', mediaType, data: { type: 'data', data: Buffer.alloc(bytes) } }]);
    expect(file('text/plain', 35_000)).toBe(10_004);
    expect(file('application/pdf', 64 * 1024)).toBe(2_052);
    expect(of([{ type: 'file', mediaType: 'application/pdf', data: new URL('https://a.test/b.pdf') }])).toBe(
      4,
    );
  });
});

describe('the estimate of a prompt', () => {
  it('is the sum of system prompt, tools and messages', () => {
    const nothing: EstimatedPrompt = { system: undefined, messages: [], tools: [] };
    expect(estimatePromptTokens(nothing)).toBe(0);
    const messages: ModelMessage[] = [{ role: 'user', content: PROSE }];
    const tool = { type: 'function' as const, name: 'calculator', inputSchema: { type: 'object' as const } };
    const withTool = estimatePromptTokens({ ...nothing, tools: [tool] });
    expect(withTool).toBeGreaterThan(10);
    expect(estimatePromptTokens({ system: PROSE, messages, tools: [tool] })).toBe(
      withTool + estimateTextTokens(PROSE) + estimateMessageTokens({ role: 'user', content: PROSE }),
    );
  });
});
