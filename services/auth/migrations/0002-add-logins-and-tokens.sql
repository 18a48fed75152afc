alter table users
  alter column user_id type text collate "C",
  -- Whose users log in: the identity provider, and what it calls this one. Null for the user of local mode.
  add column issuer text,
  add column subject text,
  add column email text not null default '',
  add column groups text[] not null default '{}',
  -- To the minute.
  add column last_seen_at timestamptz;
create unique index users_of_issuer on users (issuer, subject);

-- Personal access tokens, of whose value there is only a hash.
create table tokens (
  token_id text collate "C" primary key,
  user_id text collate "C" not null references users,
  name text not null,
  scopes text[] not null,
  hint text not null,
  -- SHA-256.
  value_hash bytea not null unique,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz
);
create index tokens_of_user on tokens (user_id, token_id desc);

create table logins (
  login_id text collate "C" primary key,
  -- Of the cookie: SHA-256.
  value_hash bytea not null unique,
  user_id text collate "C" not null references users,
  -- The provider wants to see it when the login ends there, too. Readable only with the key it names (lib/sealing.ts).
  sealed_id_token text not null,
  created_at timestamptz not null,
  -- To the minute.
  seen_at timestamptz not null,
  ends_at timestamptz not null
);
create index logins_by_end on logins (ends_at);
create index logins_by_use on logins (seen_at);

-- Browsers that are at the identity provider. A row is taken away by the one return that it is good for.
create table login_attempts (
  -- Of the cookie: SHA-256.
  value_hash bytea primary key,
  state text not null,
  -- What proves that an answer belongs to this attempt. Readable only with the key it names (lib/sealing.ts).
  sealed_proof text not null,
  return_to text not null,
  ends_at timestamptz not null
);
create index login_attempts_by_end on login_attempts (ends_at);

create table idempotency_keys (
  caller text not null,
  key text not null,
  fingerprint bytea not null,
  answer bytea not null,
  created_at timestamptz not null,
  primary key (caller, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
