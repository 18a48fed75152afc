-- Parts of input_tokens and output_tokens, and whether a part of them is estimated.
alter table heads
  add column cached_input_tokens bigint not null default 0,
  add column cache_write_tokens bigint not null default 0,
  add column reasoning_tokens bigint not null default 0,
  add column estimated boolean not null default false;
alter table turns
  add column cached_input_tokens bigint not null default 0,
  add column cache_write_tokens bigint not null default 0,
  add column reasoning_tokens bigint not null default 0,
  add column estimated boolean not null default false,
  -- The unfinished model request with its estimated usage. It counts when the turn ends or its lease is lost.
  add column open_model_request json;
