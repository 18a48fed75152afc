-- The texts of events are made by this service, and what it is handed for them is parsed at its door. Parsing
-- them again costs more than all other columns of the row together; readers who need JSON write events::json.
alter table journal alter column events type text;
