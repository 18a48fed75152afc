-- Runners report the model providers whose API key they have, never a key.
alter table runners add column key_providers text[] not null default '{}';
