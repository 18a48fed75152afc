-- Uploads are file events, too.
create index journal_file_events on journal (session_id, last_seq)
  where types && array['files.uploaded', 'file.created', 'file.modified', 'file.deleted'];
drop index journal_files;
