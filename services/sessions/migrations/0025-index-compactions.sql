-- A runner reads the history of a session from the newest compaction on.
create index journal_compactions on journal (session_id, last_seq) where types && array['agent.context_compacted'];
