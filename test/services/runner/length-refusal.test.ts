import { describe, expect, it } from 'vitest';
import { lengthRefusalOf } from '../../../services/runner/models/length-refusal.ts';

describe('lengthRefusalOf', () => {
  it.each([
    ['prompt is too long: 250000 tokens > 200000 maximum', 250_000, 200_000],
    [
      'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens`',
      188_240,
      200_000,
    ],
    [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
      9_001,
      8_192,
    ],
    [
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (1000 in the messages, 4000 in the completion).",
      1_000,
      4_096,
    ],
    ["This model's maximum context length is 8192 tokens.", undefined, 8_192],
    ['Your input exceeds the context window of this model. Please adjust your input.', undefined, undefined],
    ['the request exceeds the available context size (8192 tokens), try increasing it', undefined, 8_192],
    [
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      1_200_000,
      1_048_576,
    ],
    [
      'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      40_000,
      32_768,
    ],
    ['The decoder prompt (length 5000) is longer than the maximum model length of 4096.', 5_000, 4_096],
    [
      '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`',
      5_000,
      4_096,
    ],
    ['Input is too long for requested model.', undefined, undefined],
  ])('recognizes %s', (message, tokens, limit) => {
    expect(lengthRefusalOf(400, 'undefined invalidrequesterror', message)).toEqual({ tokens, limit });
  });

  it('recognizes the code of OpenAI with any message', () => {
    expect(lengthRefusalOf(400, 'contextlengthexceeded invalidrequesterror', 'No.')).toEqual({});
  });

  it.each([
    [429, 'Request too large for gpt-4o: Limit 30000 tokens per min, Requested 40000.'],
    [400, 'max_tokens must be at least 1'],
    [400, 'messages: text content blocks must be non-empty'],
    [403, 'The context window of this model is not available for your account.'],
  ])('returns undefined for another refusal: %s %s', (status, message) => {
    expect(lengthRefusalOf(status, 'undefined invalidrequesterror', message)).toBeUndefined();
  });
});
