import type { ContentBlock } from '@modelcontextprotocol/server';
import { mediaTypeOf } from '../../../lib/media-type.ts';
import { baseNameOf } from '../../../lib/paths.ts';
import { fileUri } from './resources/uri.ts';

/** A link to a file as content of a tool result. */
export function fileLink(sessionId: string, { path, size }: { path: string; size: number }): ContentBlock {
  const uri = fileUri(sessionId, path);
  return {
    type: 'resource_link',
    uri,
    name: baseNameOf(path),
    title: path,
    mimeType: mediaTypeOf(path),
    size,
  };
}
