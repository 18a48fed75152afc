import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { declaredStatements } from '../../../lib/db/database.ts';
import { createTokenStore } from '../../../services/auth/store/tokens.ts';
import {
  ALICE,
  BOB,
  openRowLevelSecurity,
  type RowLevelSecurityFixture,
} from '../../support/row-level-security.ts';
import { countOn, runOn } from '../../support/sql.ts';

const HERS = 'tok_0000000000000000000000000A';

const rowsOf = (owner: string, letter: string) => `
  insert into users (user_id, display_name, roles) values ('${owner}', '', '{member}');
  insert into tokens (token_id, user_id, name, scopes, hint, value_hash, created_at)
    values ('tok_0000000000000000000000000${letter}', '${owner}', 'ci', '{read}', '', '${letter}', now());
  insert into logins (login_id, value_hash, user_id, sealed_id_token, created_at, seen_at, ends_at)
    values ('lgn_${letter}', '${letter}', '${owner}', '', now(), now(), now());
  insert into idempotency_keys (caller, key, fingerprint, answer, created_at) values ('${owner}', 'k', '', '', now());`;

describe('row-level security of the auth schema', () => {
  let fixture: RowLevelSecurityFixture;
  beforeAll(async () => {
    fixture = await openRowLevelSecurity('auth');
    await runOn(fixture.url, `set search_path = auth; ${rowsOf(ALICE, 'A')} ${rowsOf(BOB, 'B')}`);
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  it('shows tokens only to their owner, and no other rows to users', async () => {
    expect(await fixture.readableTables()).toEqual(['idempotency_keys', 'tokens']);
    expect(await fixture.rowsVisibleTo('tokens', BOB)).toEqual([expect.objectContaining({ user_id: BOB })]);
    expect(await fixture.rowsVisibleTo('idempotency_keys', BOB)).toEqual([
      expect.objectContaining({ caller: BOB }),
    ]);
    for (const table of await fixture.readableTables())
      expect(await fixture.rowsVisibleWithoutUser(table)).toEqual([]);
    for (const table of ['logins', 'users', 'login_attempts', 'acts'])
      expect(await fixture.rowsVisibleTo(table, BOB)).toBeUndefined();
    expect(await fixture.tablesWithoutPolicies()).not.toContain('logins');
  });

  it('prevents to list, delete and create tokens of another user', async () => {
    expect((await createTokenStore(fixture.db).list(BOB, { limit: 5, cursor: '' })).rows.length).toBe(1);
    const run = (name: string, values: unknown[]) => {
      const query = declaredStatements().find((one) => one.name === name);
      if (!query) throw new Error(`there is no statement ${name}`);
      return fixture.db.rows(query, values, { viewer: { userId: BOB } });
    };
    expect(await run('auth.list_tokens', [ALICE, 'tok~', 10])).toEqual([]);
    expect(await run('auth.delete_token', [ALICE, HERS])).toEqual([]);
    const made = ['tok_new', ALICE, 'mine', ['admin'], '', 'ab', new Date(), null];
    await expect(run('auth.insert_token', made)).rejects.toThrow('row-level security');
    expect(await countOn(fixture.url, `select count(*) from auth.tokens where user_id = '${ALICE}'`)).toBe(1);
  });
});
