import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  openRequestState,
  STATE_TTL_MS,
  sealRequestState,
} from '../../../../../edge/protocols/mcp/input/request-state.ts';
import { createKeyDeriver } from '../../../../../lib/derived-key.ts';

const derive = createKeyDeriver('a secret of the services');
const USER = 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const NOW = new Date('2026-11-29T06:00:00Z');
const STATE = {
  sessionId: 'ses_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  turnId: 'trn_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  asked: ['approval:apr_01ARZ3NDEKTSV4RRFFQ69G5FAV'],
  answered: ['question:call_1_1'],
};

describe('states of requests', () => {
  const sealed = sealRequestState(derive, USER, STATE, NOW);
  const later = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);

  it('open for their user for ten minutes, at every edge with the same secret', () => {
    const another = createKeyDeriver('a secret of the services');
    for (const age of [0, STATE_TTL_MS - 1])
      expect(openRequestState(another, USER, sealed, later(age))).toEqual(STATE);
    expect(openRequestState(derive, USER, sealed, later(STATE_TTL_MS))).toBeUndefined();
  });

  it('show nothing of their content', () => {
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toMatch(/01ARZ3|call_1_1|approval/);
    expect(sealRequestState(derive, USER, STATE, NOW)).not.toBe(sealed);
  });

  it('do not open for another user, with another secret, and when anything differs', () => {
    expect(openRequestState(derive, `${USER}x`, sealed, NOW)).toBeUndefined();
    expect(openRequestState(createKeyDeriver('another secret'), USER, sealed, NOW)).toBeUndefined();
    fc.assert(
      fc.property(fc.nat(), fc.stringMatching(/^[\w-]$/), (position, character) => {
        const at = position % sealed.length;
        const altered = sealed.slice(0, at) + character + sealed.slice(at + 1);
        if (altered !== sealed) expect(openRequestState(derive, USER, altered, NOW)).toBeUndefined();
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(openRequestState(derive, USER, text, NOW)).toBeUndefined();
      }),
    );
  });
});
