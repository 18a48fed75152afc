create table users (
  user_id text primary key,
  display_name text not null,
  roles text[] not null,
  enabled boolean not null default true,
  created_at timestamptz not null default now()
);

-- The one user of local mode, who may do everything on this machine.
insert into users (user_id, display_name, roles)
values ('usr_00000000000000000000000001', 'Local administrator', '{administrator}');
