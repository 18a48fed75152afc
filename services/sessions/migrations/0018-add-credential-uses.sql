-- The journaled uses of credentials, as a JSON array of `<credential id> <host>`; null for none.
alter table turns add column credential_uses json;
