import { mapWithLookahead } from './concurrency.ts';
import { type ContentReader, isSmall } from './content-reader.ts';
import type { TreeEntry } from './domain/node.ts';
import type { Contents, StoredContent } from './store/contents.ts';

export interface PrefetchOptions {
  contents: Pick<Contents, 'contents'>;
  reader: ContentReader;
  signal: AbortSignal;
  call?: Parameters<Contents['contents']>[1];
}

interface PrefetchedEntry {
  entry: TreeEntry;
  /** Undefined unless the entry is a file. */
  content: StoredContent | undefined;
  /** The whole content of a small file; undefined for a larger one. */
  bytes: Buffer | undefined;
}

/** Small files that are read ahead of the entry that the consumer waits for. */
const LOOKAHEAD = 16;

/** Yields the entries of a page, in order, with their contents. The consumer needs all of them, so small files are read ahead. */
export async function* prefetchContents(
  page: readonly TreeEntry[],
  { contents, reader, signal, call }: PrefetchOptions,
): AsyncGenerator<PrefetchedEntry> {
  const byId = await contents.contents(
    page.flatMap(({ node }) => node.contentId || []),
    call,
  );
  const small = async ({ node }: TreeEntry) => {
    const content = byId.get(node.contentId);
    return content && isSmall(content) ? reader.whole(content, signal) : undefined;
  };
  for await (const [entry, bytes] of mapWithLookahead(page, LOOKAHEAD, small))
    yield { entry, content: byId.get(entry.node.contentId), bytes };
}
