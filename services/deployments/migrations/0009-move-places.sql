-- A product can replace the id of a place, as Telegram does when a group becomes a supergroup. JSON object: the id with which
-- conversations of the place began, by its current id.
alter table channels add column moved_places text not null default '{}';
