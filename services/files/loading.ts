import type { Placed } from './domain/node.ts';
import { ahead } from './each.ts';
import { isSmall, type Reader } from './reader.ts';
import type { Content, Contents } from './store/contents.ts';

export interface LoadingOptions {
  contents: Pick<Contents, 'contents'>;
  reader: Reader;
  signal: AbortSignal;
  call?: Parameters<Contents['contents']>[1];
}

export interface Loaded {
  placed: Placed;
  /** Of a file. */
  content: Content | undefined;
  /** All of it, when it is small. */
  bytes: Buffer | undefined;
}

/** So many are under way while the first of them is waited for. */
const AHEAD = 16;

/** What is on a page, in its order, with what it holds: all of it will be wanted, so small files are read ahead. */
export async function* withBytes(
  page: readonly Placed[],
  { contents, reader, signal, call }: LoadingOptions,
): AsyncGenerator<Loaded> {
  const known = await contents.contents(
    page.flatMap(({ node }) => node.contentId || []),
    call,
  );
  const small = async ({ node }: Placed) => {
    const content = known.get(node.contentId);
    return content && isSmall(content) ? reader.whole(content, signal) : undefined;
  };
  for await (const [placed, bytes] of ahead(page, AHEAD, small))
    yield { placed, content: known.get(placed.node.contentId), bytes };
}
