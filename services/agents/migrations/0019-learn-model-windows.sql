-- Context windows that providers have shown when they refused a request because of its length.
create table model_windows (
  -- <provider>/<model id>
  model text collate "C" primary key,
  -- In tokens.
  context_window integer not null,
  learned_at timestamptz not null
);
