-- One row per act, each chained to the one before it by its hash. Nothing is ever changed or deleted.
create table acts (
  seq bigint primary key,
  -- As it stands in what is hashed: RFC 3339 in UTC, with milliseconds.
  created_at timestamptz(3) not null,
  actor_id text collate "C" not null,
  credential text not null,
  action text collate "C" not null,
  target_id text collate "C" not null,
  outcome text not null,
  address text not null,
  request_id text not null,
  data text not null,
  hash bytea not null
);
create index acts_of_actor on acts (actor_id, seq desc);
create index acts_of_action on acts (action, seq desc);
create index acts_of_target on acts (target_id, seq desc);
create index acts_by_time on acts (created_at, seq desc);
revoke update, delete, truncate on acts from ahs_auth;

-- The newest of them. Whoever appends holds it.
create table act_head (
  one boolean primary key default true check (one),
  seq bigint not null,
  hash bytea not null
);
insert into act_head (seq, hash) values (0, '');
revoke insert, delete, truncate on act_head from ahs_auth;
