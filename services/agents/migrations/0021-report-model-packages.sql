-- Runners report the optional model providers whose package they have.
alter table runners add column optional_providers text[] not null default '{}';
