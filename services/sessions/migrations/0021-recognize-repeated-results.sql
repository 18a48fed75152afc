-- The SHA-256 of the request that answered the call, as hexadecimal text. Only of results with image and file parts, whose
-- repetition is recognized before their bytes are read: a file may have changed since, or be gone.
alter table client_calls add column request_sha256 text;
