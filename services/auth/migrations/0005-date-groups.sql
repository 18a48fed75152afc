-- When the identity provider has said that these are the groups, by its clock: an access token that is older is no news. Null
-- where it has never told when.
alter table users add column groups_at timestamptz;
