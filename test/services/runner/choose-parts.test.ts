import type { ModelMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { ANTHROPIC_PARTS } from '../../../services/runner/models/part-support.ts';
import { chooseParts, PartsTooLarge } from '../../../services/runner/parts/choose-parts.ts';
import { toolParts, userParts } from '../../../services/runner/parts/reference.ts';

const MIB = 1024 * 1024;
const MODEL = { name: 'anthropic/claude-sonnet-4-5', entry: undefined, parts: ANTHROPIC_PARTS };

function imageMessage(index: number, size: number, count = 1): ModelMessage {
  const sha256 = String(index).padStart(64, '0');
  const image = { type: 'image', media_type: 'image/png', sha256, size };
  return { role: 'user', content: userParts(Array(count).fill(image)) };
}

const conversation = (turns: number, size: number): ModelMessage[] =>
  Array.from({ length: turns }, (_, index) => [
    imageMessage(index, size),
    { role: 'assistant' as const, content: 'I see.' },
  ]).flat();

const sentIn = (messages: ModelMessage[], ownMessage = messages.length - 1) =>
  chooseParts(messages, ownMessage, MODEL).sent.map(({ sha256 }) => Number(sha256));

describe('the images of consecutive requests', () => {
  it.each([
    ['small', 100, 50],
    ['large', 2 * MIB, 5],
  ])('are those of the request before, until the limit is reached: %s images', (_, size, perChange) => {
    const all = conversation(300, size);
    let before: number[] = [];
    let changes = 0;
    for (let turn = 1; turn <= 300; turn++) {
      const sent = sentIn(all.slice(0, 2 * turn - 1));
      expect(sent.at(-1)).toBe(turn - 1);
      if (before.some((one) => !sent.includes(one))) changes++;
      before = sent;
    }
    expect(changes).toBeGreaterThan(0);
    expect(changes).toBeLessThanOrEqual(300 / perChange);
  });

  it('depend only on the messages before, so that another runner chooses the same', () => {
    const all = conversation(150, 100);
    const own = all.length - 2;
    expect(sentIn(all.slice(0, own + 1))).toEqual(sentIn(structuredClone(all).slice(0, own + 1)));
  });

  it('keep those of the message of the turn, while newer ones of its tools leave', () => {
    const messages = [imageMessage(1, 5 * MIB), imageMessage(2, 20 * MIB)];
    const part = { type: 'image', media_type: 'image/png', sha256: '3'.padStart(64, '0'), size: 5 * MIB };
    const value = toolParts([part]) ?? [];
    const output = { type: 'content' as const, value };
    const result = { type: 'tool-result' as const, toolCallId: 'call_1', toolName: 'camera', output };
    messages.push({ role: 'tool', content: [result] });
    expect(sentIn(messages, 1)).toEqual([2]);
  });

  it('are refused when those of the turn do not fit, and not when those of an earlier turn did not', () => {
    const messages = [imageMessage(1, 8 * MIB, 4)];
    expect(() => sentIn(messages)).toThrow(PartsTooLarge);
    messages.push(imageMessage(2, 8 * MIB));
    expect(sentIn(messages)).toContain(2);
  });
});
