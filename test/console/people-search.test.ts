import { describe, expect, it } from 'vitest';
import {
  exactMatches,
  isSearchable,
  moveHighlight,
  nameOf,
  resolveUser,
} from '../../console/parts/users/people-search.ts';

const BOB = { user_id: 'usr_1', display_name: 'Bob', email: 'bob@example.com' };
const BOBBY = { user_id: 'usr_2', display_name: 'Bobby', email: 'bobby@example.com' };
const NO_MATCH = 'Users are found after their first login.';

describe('resolveUser', () => {
  it.each(['bob@example.com', ' BOB@example.com ', 'Bob', 'usr_1'])('finds the exact match of %j', (text) => {
    expect(resolveUser(text, [BOBBY, BOB])).toEqual({ user: BOB });
  });

  it('takes the only user that was found for a part of a name', () => {
    expect(resolveUser('bobb', [BOBBY])).toEqual({ user: BOBBY });
  });

  it('refuses a part of an e-mail address', () => {
    const problem = `No user has the e-mail address ob@example.com. ${NO_MATCH}`;
    expect(resolveUser('ob@example.com', [BOB])).toEqual({ problem, isAmbiguous: false });
  });

  it('refuses an unknown name and a text that matches several users', () => {
    expect(resolveUser('Zoe', [])).toEqual({
      problem: `No user matches “Zoe”. ${NO_MATCH}`,
      isAmbiguous: false,
    });
    const problem = 'Several users match “bo”. Choose one from the list.';
    expect(resolveUser('bo', [BOB, BOBBY])).toEqual({ problem, isAmbiguous: true });
    expect(resolveUser('Bob', [BOB, { ...BOBBY, display_name: 'Bob' }])).toMatchObject({
      problem: expect.stringContaining('Several'),
    });
  });
});

describe('the state of a search for people', () => {
  it('has exact matches only for complete names, addresses and ids', () => {
    expect(exactMatches('bob', [BOB, BOBBY])).toEqual([BOB]);
    expect(exactMatches('bo', [BOB, BOBBY])).toEqual([]);
  });

  it('searches for at least two characters', () => {
    expect(['', ' a ', 'ab', '🦊🦊', '🦊'].map(isSearchable)).toEqual([false, false, true, true, false]);
  });

  it('moves the highlight around the ends of the list', () => {
    const down = (current: number | undefined) => moveHighlight('ArrowDown', current, 3);
    const up = (current: number | undefined) => moveHighlight('ArrowUp', current, 3);
    expect([undefined, 0, 2].map(down)).toEqual([0, 1, 0]);
    expect([undefined, 0, 2].map(up)).toEqual([2, 2, 1]);
    expect(moveHighlight('ArrowDown', 0, 0)).toBeUndefined();
  });

  it('names a user without a name by the e-mail address', () => {
    expect([BOB, { ...BOB, display_name: '' }, null].map(nameOf)).toEqual([
      'Bob',
      'bob@example.com',
      undefined,
    ]);
  });
});
