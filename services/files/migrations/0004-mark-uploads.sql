-- The change is part of an upload, which one event describes.
alter table changes add column upload boolean not null default false;
