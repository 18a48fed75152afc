import { describe, expect, it } from 'vitest';
import { createSealer } from '../../lib/sealing.ts';

const OLD = 'an old key of more than 32 characters';
const NEW = 'a new key with more than 32 characters';
const PLAIN = 'whsec_the secret itself ü 🔑';
const CONTEXT = 'dep_01M7XYC91CC5TE06JQWDWRTJVA';

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return error instanceof Error ? error.message : 'not an Error';
  }
  return 'nothing was thrown';
}

describe('createSealer', () => {
  it('opens a text that it sealed', () => {
    const sealer = createSealer(OLD);
    for (const text of ['', PLAIN, 'x'.repeat(100_000)]) {
      expect(sealer.open(sealer.seal(text, CONTEXT), CONTEXT)).toBe(text);
    }
  });

  it('seals the same text differently each time without revealing it', () => {
    const sealer = createSealer(OLD);
    const sealed = sealer.seal(PLAIN, CONTEXT);
    expect(sealer.seal(PLAIN, CONTEXT)).not.toBe(sealed);
    expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$/);
    expect(Buffer.from(sealed.split('.')[2]!, 'base64url').toString('latin1')).not.toContain('whsec_');
  });

  it('seals with the first key and opens with every key', () => {
    const before = createSealer(OLD).seal(PLAIN, CONTEXT);
    const both = createSealer(` ${NEW} , ${OLD} `);
    expect(both.open(before, CONTEXT)).toBe(PLAIN);
    expect(createSealer(NEW).open(both.seal(PLAIN, CONTEXT), CONTEXT)).toBe(PLAIN);
  });

  it('names the missing key without revealing a secret', () => {
    const sealed = createSealer(OLD).seal(PLAIN, CONTEXT);
    const message = messageOf(() => createSealer(NEW).open(sealed, CONTEXT));
    expect(message).toBe(
      `SERVICE_SEALING_KEY does not contain the key ${sealed.split('.')[1]} of a sealed text`,
    );
  });

  it('refuses to open a text in another context', () => {
    const sealer = createSealer(OLD);
    const sealed = sealer.seal(PLAIN, CONTEXT);
    expect(messageOf(() => sealer.open(sealed, 'dep_another'))).toBe(
      'a sealed text is damaged or does not belong to dep_another',
    );
  });

  it('refuses a text with a changed, removed or added character', () => {
    const sealer = createSealer(OLD);
    const sealed = sealer.seal(PLAIN, CONTEXT);
    const damaged = [...sealed].flatMap((character, at) => {
      const other = character === 'A' ? 'B' : 'A';
      return [sealed.slice(0, at) + other + sealed.slice(at + 1), sealed.slice(0, at)];
    });
    for (const text of [...damaged, `${sealed}A`, `${sealed}.`, `${sealed}=`, '', 'v1..', 'whsec_plain']) {
      const message = messageOf(() => sealer.open(text, CONTEXT));
      expect(message).toMatch(
        /^(a sealed text (is damaged|has an unknown format)|SERVICE_SEALING_KEY does not contain the key)/,
      );
      expect(message).not.toContain('whsec_');
    }
  });

  it('refuses keys that are too short without revealing them', () => {
    for (const keys of ['', 'short', `${OLD},short`, `${OLD},`]) {
      const message = messageOf(() => createSealer(keys));
      expect(message).toMatch(/^SERVICE_SEALING_KEY: key \d has \d characters, expected at least 32$/);
      expect(message).not.toContain('short');
    }
  });
});
