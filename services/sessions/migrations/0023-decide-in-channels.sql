-- The account in a messaging product with which a user has decided, such as slack:U123. Null for a decision elsewhere.
alter table approvals add column via text;
grant select (via) on approvals to ahs_sessions_viewer;
