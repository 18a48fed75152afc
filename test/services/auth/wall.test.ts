import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { declaredStatements } from '../../../lib/db/database.ts';
import { createTokenStore } from '../../../services/auth/store/tokens.ts';
import { countOn, runOn } from '../../support/sql.ts';
import { ALICE, BOB, openWall, type Wall } from '../../support/wall.ts';

const HERS = 'tok_0000000000000000000000000A';

const rowsOf = (owner: string, letter: string) => `
  insert into users (user_id, display_name, roles) values ('${owner}', '', '{member}');
  insert into tokens (token_id, user_id, name, scopes, hint, value_hash, created_at)
    values ('tok_0000000000000000000000000${letter}', '${owner}', 'ci', '{read}', '', '${letter}', now());
  insert into logins (login_id, value_hash, user_id, sealed_id_token, created_at, seen_at, ends_at)
    values ('lgn_${letter}', '${letter}', '${owner}', '', now(), now(), now());
  insert into idempotency_keys (caller, key, fingerprint, answer, created_at) values ('${owner}', 'k', '', '', now());`;

describe('auth without its first wall', () => {
  let wall: Wall;
  beforeAll(async () => {
    wall = await openWall('auth');
    await runOn(wall.url, `set search_path = auth; ${rowsOf(ALICE, 'A')} ${rowsOf(BOB, 'B')}`);
  });
  afterAll(() => wall?.[Symbol.asyncDispose]());

  it('shows tokens to their holder alone, and nothing else to anybody', async () => {
    expect(await wall.open()).toEqual(['idempotency_keys', 'tokens']);
    expect(await wall.everythingIn('tokens', BOB)).toEqual([expect.objectContaining({ user_id: BOB })]);
    expect(await wall.everythingIn('idempotency_keys', BOB)).toEqual([
      expect.objectContaining({ caller: BOB }),
    ]);
    for (const table of await wall.open()) expect(await wall.nothingIn(table)).toEqual([]);
    for (const table of ['logins', 'users', 'login_attempts', 'acts'])
      expect(await wall.everythingIn(table, BOB)).toBeUndefined();
    expect(await wall.unguarded()).not.toContain('logins');
  });

  it('lists, ends and makes no token of hers for him, though it is asked to', async () => {
    expect((await createTokenStore(wall.db).list(BOB, { limit: 5, cursor: '' })).rows.length).toBe(1);
    const run = (name: string, values: unknown[]) => {
      const query = declaredStatements().find((one) => one.name === name);
      if (!query) throw new Error(`there is no statement ${name}`);
      return wall.db.rows(query, values, { viewer: { userId: BOB } });
    };
    expect(await run('auth.list_tokens', [ALICE, 'tok~', 10])).toEqual([]);
    expect(await run('auth.delete_token', [ALICE, HERS])).toEqual([]);
    const made = ['tok_new', ALICE, 'mine', ['admin'], '', 'ab', new Date(), null];
    await expect(run('auth.insert_token', made)).rejects.toThrow('row-level security');
    expect(await countOn(wall.url, `select count(*) from auth.tokens where user_id = '${ALICE}'`)).toBe(1);
  });
});
