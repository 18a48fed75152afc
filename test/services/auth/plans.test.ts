import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queryPlansOf } from '../../support/query-plans.ts';
import { runOn } from '../../support/sql.ts';
import { type AuthUnderTest, openAuthUnderTest } from './system.ts';

/* The cost of a request does not grow with the number of users, tokens and logins. */

const MANY = 20_000;
/** Indexes for deletions, which are read from their beginning. */
const SHORT = ['logins_by_end', 'logins_by_use', 'login_attempts_by_end', 'idempotency_keys_by_age'];
const FILL = `
  set search_path = auth;
  insert into users (user_id, display_name, roles, issuer, subject, created_at)
    select 'usr_' || lpad(i::text, 26, '0'), 'User ' || i, '{}', 'https://login.example.com', 's' || i, now()
    from generate_series(100, ${MANY}) i;
  insert into tokens (token_id, user_id, name, scopes, hint, value_hash, created_at)
    select 'tok_' || lpad(i::text, 26, '0'), 'usr_' || lpad((100 + i % 1000)::text, 26, '0'), 'T', '{read}', 'abcd',
      sha256(i::text::bytea), now()
    from generate_series(1, ${MANY}) i;
  insert into logins (login_id, value_hash, user_id, sealed_id_token, created_at, seen_at, ends_at)
    select 'lgn_' || lpad(i::text, 26, '0'), sha256(i::text::bytea), 'usr_' || lpad((100 + i % 1000)::text, 26, '0'),
      'v1', now(), now() - i * interval '1 s', now() + i * interval '1 m'
    from generate_series(1, ${MANY}) i;
  insert into login_attempts (value_hash, state, sealed_proof, return_to, ends_at)
    select sha256(i::text::bytea), 's', 'v1', '/', now() + i * interval '1 s' from generate_series(1, ${MANY}) i;
  analyze;`;

describe('query plans of the auth service', () => {
  let auth: AuthUnderTest;
  beforeAll(async () => {
    auth = await openAuthUnderTest('in process');
    await runOn(auth.databaseUrl, FILL);
  });
  afterAll(() => auth[Symbol.asyncDispose]());

  it('use indexes', async () => {
    const plans = queryPlansOf(auth.databaseUrl, 'auth');
    expect(plans.statements().length).toBeGreaterThan(18);
    expect(await plans.wholeScans(['users', 'tokens', 'logins', 'login_attempts'], SHORT)).toEqual([]);
  });
});
