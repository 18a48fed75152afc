import { describe, expect, it } from 'vitest';
import {
  changedUris,
  changingTypes,
  resourcesBySession,
} from '../../../../../edge/protocols/mcp/resources/changed-resources.ts';
import { eventsUri, fileUri, transcriptUri } from '../../../../../edge/protocols/mcp/resources/uri.ts';

const first = 'ses_01J8Z3K4M5N6P7Q8R9S0T1V2W3';
const second = 'ses_01J8Z3K4M5N6P7Q8R9S0T1V2W4';
const transcript = transcriptUri(first);
const events = eventsUri(first);
const report = fileUri(first, 'docs/report.md');

const of = (...uris: string[]) => resourcesBySession(uris).get(first) ?? [];
const event = (type: string, data: object) => ({ type, json: JSON.stringify({ type, data }) });

describe('resourcesBySession', () => {
  it('groups the resources of each session once and leaves out other URIs', () => {
    const found = resourcesBySession([
      transcript,
      eventsUri(second),
      transcript,
      'https://example.com/',
      report,
    ]);
    expect([...found.keys()]).toEqual([first, second]);
    expect(found.get(first)?.map(({ uri }) => uri)).toEqual([transcript, report]);
  });
});

describe('changingTypes', () => {
  it('has all types for events, and else the types that change a resource', () => {
    expect(changingTypes(of(transcript, events))).toEqual([]);
    expect(changingTypes(of(transcript))).toContain('agent.message');
    expect(changingTypes(of(transcript))).not.toContain('file.created');
    expect(changingTypes(of(report))).toContain('file.created');
    expect(changingTypes(of(report))).not.toContain('agent.message');
  });
});

describe('changedUris', () => {
  const all = of(transcript, events, report);

  it('names the transcript for messages only', () => {
    expect(changedUris(all, event('agent.message', {}))).toEqual([transcript, events]);
    expect(changedUris(all, event('agent.message_delta', {}))).toEqual([events]);
  });

  it('names a file that was changed, or whose directory was', () => {
    expect(changedUris(all, event('file.modified', { path: 'docs/report.md' }))).toEqual([events, report]);
    expect(changedUris(all, event('file.deleted', { path: 'docs' }))).toEqual([events, report]);
    expect(changedUris(all, event('file.modified', { path: 'docs/report.md.bak' }))).toEqual([events]);
    expect(changedUris(all, event('file.modified', { path: 'doc' }))).toEqual([events]);
  });

  it('names the files of an upload, and every file if the event does not list all', () => {
    const other = [{ path: 'a.txt' }];
    expect(changedUris(all, event('files.uploaded', { files: other, file_count: 1 }))).toEqual([events]);
    expect(changedUris(all, event('files.uploaded', { files: other, file_count: 2 }))).toEqual([
      events,
      report,
    ]);
    const listed = [{ path: 'docs/report.md' }];
    expect(changedUris(all, event('files.uploaded', { files: listed, file_count: 1 }))).toEqual([
      events,
      report,
    ]);
  });
});
