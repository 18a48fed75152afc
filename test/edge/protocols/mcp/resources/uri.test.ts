import { UriTemplate } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import {
  eventsUri,
  fileUri,
  parseResourceUri,
  transcriptUri,
  URI_TEMPLATES,
} from '../../../../../edge/protocols/mcp/resources/uri.ts';

const sessionId = 'ses_01J8Z3K4M5N6P7Q8R9S0T1V2W3';

describe('parseResourceUri', () => {
  it('reads the URIs of a session', () => {
    expect(parseResourceUri(transcriptUri(sessionId))).toEqual({ sessionId, kind: 'transcript' });
    expect(parseResourceUri(eventsUri(sessionId))).toEqual({ sessionId, kind: 'events' });
  });

  it.each(['a.txt', 'docs/report.md', 'a b/ü?#&%.txt', '100%/c:d@e', 'line[1]/(x).ts'])(
    'reads back the URI of the file %s',
    (path) => {
      expect(parseResourceUri(fileUri(sessionId, path))).toEqual({ sessionId, kind: 'file', path });
    },
  );

  it.each(['a.txt', 'docs/report.md', 'a b/ü?#&.txt', 'c:d@e'])(
    'reads the expansion of the template for the file %s',
    (path) => {
      const template = new UriTemplate(URI_TEMPLATES.file);
      expect(parseResourceUri(template.expand({ session_id: sessionId, path }))).toEqual({
        sessionId,
        kind: 'file',
        path,
      });
    },
  );

  it.each([
    '',
    'https://example.com/',
    `session://${sessionId}/transcript.md`,
    `session:///${sessionId}`,
    `session:///${sessionId}/transcript.md/`,
    `session:///${sessionId}/transcript.txt`,
    `session:///${sessionId.toLowerCase()}/transcript.md`,
    'session:///ses_short/transcript.md',
    `session:///${sessionId}/files/`,
    `session:///${sessionId}/files/../transcript.md`,
    `session:///${sessionId}/files/%2e%2e/secret`,
    `session:///${sessionId}/files//etc/passwd`,
    `session:///${sessionId}/files/a%00b`,
    `session:///${sessionId}/files/%ff`,
    `session:///${sessionId}/files/${'x'.repeat(2_000)}`,
  ])('reads no resource from %s', (uri) => {
    expect(parseResourceUri(uri)).toBeUndefined();
  });
});
