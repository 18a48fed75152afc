import { format, inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../lib/secret.ts';

const CANARY = 'canary-of-a-secret';
const secret = new Secret(CANARY);

describe('Secret', () => {
  it('reveals its text on request', () => {
    expect(secret.reveal()).toBe(CANARY);
  });

  it('has the length of its text in bytes', () => {
    expect(new Secret('ü🔑').byteLength).toBe(6);
  });

  it.each<[string, unknown]>([
    ['String', String(secret)],
    ['a template', `${secret}`],
    ['concatenation', `${'a'}${secret}`],
    ['JSON', JSON.stringify({ nested: [secret] })],
    ['inspect', inspect({ nested: [secret] }, { depth: 9, showHidden: true })],
    ['format', format('%s %o %j %O', secret, secret, secret, secret)],
    ['an error', new Error('failed', { cause: secret }).stack],
    ['a structured clone', inspect(structuredClone(secret))],
    [
      'its properties',
      Object.entries(secret)
        .concat(Object.entries(Object.getOwnPropertyDescriptors(secret)))
        .join(),
    ],
  ])('is absent from %s', (_, shown) => {
    expect(shown).not.toContain(CANARY);
  });
});
