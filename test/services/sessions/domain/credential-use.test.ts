import { describe, expect, it } from 'vitest';
import { journalUses, newUses } from '../../../../services/sessions/domain/credential-use.ts';
import { NOW, sessionState, turnState, typesOf } from './states.ts';

const USE = { credentialId: 'crd_1', host: 'a.example' };
const LEASE = { turnId: 'trn_1', fence: 5 };

describe('newUses', () => {
  it('returns each use once, without those that were journaled', () => {
    const other = { ...USE, host: 'b.example' };
    expect(newUses([USE, other, USE], ['crd_1 b.example', 'crd_2 a.example'])).toEqual([USE]);
    expect(newUses([], ['crd_1 b.example'])).toEqual([]);
  });
});

describe('journalUses', () => {
  const running = (fields = {}) => sessionState({ current: turnState(fields) });

  it('adds an event and the use to the turn, and leaves its lease', () => {
    const change = journalUses(running({ credentialUses: ['crd_2 a.example'] }), LEASE, [USE], NOW);
    expect(typesOf(change)).toEqual(['credential.used']);
    expect(change.drafts[0]).toMatchObject({
      turnId: 'trn_1',
      dataJson: JSON.stringify({ credential_id: 'crd_1', host: 'a.example' }),
      actor: { type: 'agent', id: 'agt_1' },
    });
    expect(change.turns).toEqual([turnState({ credentialUses: ['crd_2 a.example', 'crd_1 a.example'] })]);
  });

  it('changes nothing for a journaled use', () => {
    const change = journalUses(running({ credentialUses: ['crd_1 a.example'] }), LEASE, [USE], NOW);
    expect(change).toMatchObject({ drafts: [], turns: [] });
  });

  it.each([
    ['has ended', undefined],
    ['is of a deleted session', sessionState()],
    ['has another fence', running({ fence: 6 })],
    ['is of another turn', running({ turnId: 'trn_2' })],
    ['is blocked', running({ status: 'blocked' })],
    ['has expired', running({ leaseUntil: NOW })],
  ])('refuses a lease that %s', (_, state) => {
    expect(() => journalUses(state, LEASE, [USE], NOW)).toThrow(
      expect.objectContaining({ code: 'LEASE_LOST' }),
    );
  });
});
