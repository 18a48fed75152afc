-- Channels connect an agent with a messaging product. deployments.revision counts the changes of a client.
create table channels (
  deployment_id text primary key references deployments on delete cascade,
  -- As deployments.created_by.
  owner_id text not null,
  -- slack, telegram, discord, http
  provider text not null,
  -- The settings as JSON, with all defaults.
  config text not null,
  -- The credentials as a JSON object, readable only with the key it names (lib/sealing.ts).
  sealed_credentials text not null,
  -- JSON array of {name, hint, updated_at}.
  credentials text not null,
  -- Keyed fingerprint of the bot token; null for http. Two enabled channels with one bot would take each other's events.
  bot_fingerprint text,
  is_enabled boolean not null,
  -- JSON object: the bot as the product knows it. Null before the first connection.
  identity text,
  -- The number of the last change of a post. Only for http, whose posts are pulled in this order.
  last_change bigint not null default 0
);
create unique index channels_of_enabled_bots on channels (provider, bot_fingerprint)
  where is_enabled and bot_fingerprint is not null;
-- As deployments_by_sealing_key.
create index channels_by_sealing_key on channels (split_part(sealed_credentials, '.', 2));

-- One row for each channel that must be registered, connected or removed at its product. It outlives a deleted channel
-- until its webhooks and commands are removed, so it has the credentials of that channel.
create table connections (
  deployment_id text primary key,
  owner_id text not null,
  provider text not null,
  -- http, socket, polling, gateway, pull
  mode text not null,
  -- What the worker has to do: connect, remove, or nothing.
  wanted text not null check (wanted in ('connect', 'remove', 'nothing')),
  -- The revision of the channel that the state belongs to.
  revision integer not null,
  -- connected, connecting, failed, off
  state text not null,
  since timestamptz not null,
  last_event_at timestamptz,
  last_error text,
  -- The worker that holds the lease. The fence grows with each claim.
  holder text,
  fence bigint not null default 0,
  lease_until timestamptz,
  -- When the row can be claimed. Null: not before the channel is changed.
  ready_at timestamptz,
  -- Offset or session of the product, readable only with the sealing key.
  sealed_resume text,
  -- Only with wanted = remove: the credentials of the deleted or disabled channel, and the end of the attempts.
  sealed_credentials text,
  remove_until timestamptz
);
create index connections_ready on connections (ready_at) where ready_at is not null;

-- Events of products: each one that was accepted, and rows that count ignored and refused ones.
create table deliveries (
  delivery_id text primary key,
  deployment_id text not null references channels on delete cascade,
  -- As channels.owner_id.
  owner_id text not null,
  -- The product's id of the event; or, of a row that stands for many events, their minute and reason.
  dedupe_key text not null,
  kind text not null,
  -- pending, accepted, duplicate, ignored, refused, failed
  result text not null,
  reason text,
  conversation text,
  order_key text not null default '',
  -- Commands and clicks, which do not wait for earlier messages.
  is_urgent boolean not null default false,
  -- The event (proto InboundEvent). Null: erased, or never stored.
  payload bytea,
  sender_team text not null default '',
  sender_id text,
  sender_name text,
  user_id text,
  session_id text,
  turn_id text,
  size bigint not null,
  source_address text not null default '',
  attempts integer not null default 0,
  count integer not null default 1,
  -- Only while pending: when it can be claimed.
  ready_at timestamptz,
  -- The fence grows with each claim. The end of the lease is null while no worker holds the delivery.
  fence bigint not null default 0,
  claimed_at timestamptz,
  lease_until timestamptz,
  -- The queue of the session is held. Waiting is no attempt.
  is_waiting boolean not null default false,
  -- The trace of the request that brought it.
  traceparent text,
  created_at timestamptz not null,
  finished_at timestamptz,
  unique (deployment_id, dedupe_key)
);
create index deliveries_of_channel on deliveries (deployment_id, delivery_id desc);
create index deliveries_pending on deliveries (deployment_id, conversation, order_key, delivery_id)
  where result = 'pending';
create index deliveries_ready on deliveries (ready_at) where ready_at is not null;
create index deliveries_of_turns on deliveries (turn_id) where turn_id is not null;
create index deliveries_with_large_payload on deliveries (delivery_id)
  where payload is not null and result <> 'pending' and size > 65536;
-- Keys that begin with ~ count events (store/counted-deliveries.ts), and those that begin with ^ are forgotten
-- (store/delivery-retention.ts).
create index deliveries_counted on deliveries (deployment_id, delivery_id desc) where left(dedupe_key, 1) = '~';
create index deliveries_with_key on deliveries (created_at) where left(dedupe_key, 1) not in ('~', '^');

create table conversations (
  deployment_id text not null references channels on delete cascade,
  conversation text not null,
  owner_id text not null,
  title text,
  -- JSON object {place, thread, is_group}.
  place text not null,
  -- Null: the next message starts a session.
  session_id text,
  session_owner_id text,
  -- The next message starts a session. Until then, the posts of the current one go on.
  is_detached boolean not null default false,
  detached_at timestamptz,
  -- All events of the session up to this seq are told.
  told_seq bigint not null default 0,
  -- When told_seq last grew. Null: it has not.
  told_at timestamptz,
  -- Something may have to be told: the conversation can be claimed.
  is_engaged boolean not null default false,
  -- Incremented with each reason to engage, so that a release does not hide a newer one.
  engagements bigint not null default 0,
  -- As engagements and the revision of the channel were at the claim.
  claimed_engagements bigint not null default 0,
  claimed_revision integer not null default 0,
  holder text,
  fence bigint not null default 0,
  lease_until timestamptz,
  ready_at timestamptz,
  failures integer not null default 0,
  reason text,
  is_greeted boolean not null default false,
  last_in_at timestamptz not null,
  last_out_at timestamptz,
  created_at timestamptz not null,
  primary key (deployment_id, conversation)
);
create index conversations_of_channel on conversations (deployment_id, last_in_at desc, conversation);
create index conversations_ready on conversations (ready_at) where is_engaged;
create index conversations_held on conversations (deployment_id) where holder is not null;
create index conversations_of_session on conversations (session_id) where session_id is not null;

create table conversation_people (
  deployment_id text not null,
  conversation text not null,
  team text not null,
  external_id text not null,
  name text not null,
  last_in_at timestamptz not null,
  primary key (deployment_id, conversation, team, external_id),
  foreign key (deployment_id, conversation) references conversations on delete cascade
);

-- What the product shows, or should show.
create table posts (
  post_id text primary key,
  deployment_id text not null,
  conversation text not null,
  owner_id text not null,
  session_id text,
  session_owner_id text,
  -- Empty for notices without a turn.
  turn_id text not null default '',
  kind text not null,
  part integer not null default 0,
  -- The approval; the path and SHA-256 of a file; the key of a notice.
  key text not null default '',
  -- wanted, posting, posted, failed, dead
  state text not null,
  revision bigint not null default 1,
  external_id text,
  shown_sha256 text,
  maybe_duplicate boolean not null default false,
  attempts integer not null default 0,
  -- The first attempt since the post was last posted. A post is dead after 24 hours.
  trying_since timestamptz,
  next_at timestamptz,
  error text,
  -- Only of notices: Markdown, erased when it is posted.
  text text,
  private_to text,
  -- Only for http: the content (proto PulledPost) and the number of its change.
  content bytea,
  change bigint,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (deployment_id, conversation, turn_id, kind, part, key),
  foreign key (deployment_id, conversation) references conversations on delete cascade
);
create index posts_of_channel on posts (deployment_id, post_id desc);
create index posts_open on posts (deployment_id, conversation) where state in ('wanted', 'posting');
create index posts_by_change on posts (deployment_id, change) where change is not null;

-- Accounts of products that belong to users.
create table links (
  link_id text primary key,
  provider text not null,
  -- The workspace of the product; for http the deployment; empty otherwise.
  team text not null,
  external_id text not null,
  external_name text not null,
  user_id text not null,
  -- confirmed, email, administrator
  how text not null,
  created_at timestamptz not null,
  unique (provider, team, external_id)
);
create index links_of_user on links (user_id, link_id desc);

-- One-time codes of 128 bits, by their SHA-256. A used code is deleted.
create table link_codes (
  code_sha256 bytea primary key,
  deployment_id text not null references channels on delete cascade,
  provider text not null,
  team text not null,
  external_id text not null,
  external_name text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create unique index link_codes_of_accounts on link_codes (provider, team, external_id);
create index link_codes_by_age on link_codes (expires_at);

-- Requested checks of a channel, until their answer is read.
create table probes (
  probe_id text primary key,
  deployment_id text not null references channels on delete cascade,
  requested_at timestamptz not null,
  claimed_until timestamptz,
  -- JSON array of checks. Null: not finished.
  checks text
);

-- As in migration 0003: users see their own rows, and the service sees all rows.
alter table channels enable row level security, force row level security;
create policy of_the_service on channels to ahs_deployments using (true);
create policy of_their_owner on channels to ahs_deployments_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));

alter table connections enable row level security, force row level security;
create policy of_the_service on connections to ahs_deployments using (true);
create policy of_their_owner on connections to ahs_deployments_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));

alter table deliveries enable row level security, force row level security;
create policy of_the_service on deliveries to ahs_deployments using (true);
create policy of_their_owner on deliveries to ahs_deployments_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));

alter table conversations enable row level security, force row level security;
create policy of_the_service on conversations to ahs_deployments using (true);
create policy of_their_owner on conversations to ahs_deployments_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));

alter table conversation_people enable row level security, force row level security;
create policy of_the_service on conversation_people to ahs_deployments using (true);
create policy of_their_owner on conversation_people to ahs_deployments_viewer
  using ((select owner_id from channels c where c.deployment_id = conversation_people.deployment_id)
    = (select current_setting('ahs.viewer', true)));

alter table posts enable row level security, force row level security;
create policy of_the_service on posts to ahs_deployments using (true);
create policy of_their_owner on posts to ahs_deployments_viewer
  using (owner_id = (select current_setting('ahs.viewer', true)));

alter table links enable row level security, force row level security;
create policy of_the_service on links to ahs_deployments using (true);
create policy of_their_user on links to ahs_deployments_viewer
  using (user_id = (select current_setting('ahs.viewer', true)));

alter table link_codes enable row level security, force row level security;
create policy of_the_service on link_codes to ahs_deployments using (true);

alter table probes enable row level security, force row level security;
create policy of_the_service on probes to ahs_deployments using (true);

grant select, insert, update, delete on channels, connections, deliveries, conversations, posts, links
  to ahs_deployments_viewer;
grant select on conversation_people to ahs_deployments_viewer;
