-- Why a conversation has another place than its events: the product's refusal to create its thread. It keeps that place.
alter table conversations add column place_reason text;
-- Replies to posts, clicks on their buttons, and events about them name the id that the product has given them.
create index posts_by_external_id on posts (deployment_id, external_id) where external_id is not null;
