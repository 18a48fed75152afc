-- What all contents of an owner have together, as long as their objects are there: also those of former versions, and those
-- that no change has named yet. Written by whatever adds and deletes contents, in the same statement.
create table owners (
  owner_id text collate "C" primary key,
  bytes bigint not null
) with (fillfactor = 50);
insert into owners (owner_id, bytes)
select owner_id, sum(size) from contents group by owner_id;
