import { type Header, pack as openPack, type Pack } from 'tar-stream';
import { baseNameOf } from '../../lib/paths.ts';
import type { ContentReader } from './content-reader.ts';
import type { Node, TreeEntry } from './domain/node.ts';
import { type PrefetchOptions, prefetchContents } from './prefetch.ts';
import type { Contents, StoredContent } from './store/contents.ts';

interface ArchiveOptions {
  /** The directory to pack; empty for the workspace. */
  path: string;
  /** The node of that directory; undefined for the workspace. */
  top: Node | undefined;
  /** The entries below that directory, sorted by path. */
  pages: AsyncIterable<readonly TreeEntry[]>;
  contents: Pick<Contents, 'contents'>;
  reader: ContentReader;
  signal: AbortSignal;
  readOptions?: PrefetchOptions['call'];
}

type Packed = Pick<Header, 'name' | 'type' | 'size' | 'mode' | 'mtime'> &
  Partial<Pick<Header, 'linkname' | 'pax'>>;

const BLOCK = 512;
const END_BYTES = 2 * BLOCK;
/** The newest time that every program can read in a header: the end of 32-bit Unix time. */
const LATEST = new Date((2 ** 31 - 1) * 1_000);

/** Returns the size of the archive in bytes. Stops counting beyond `maxBytes` and returns a number above it. */
export async function archiveBytes(
  path: string,
  pages: AsyncIterable<readonly TreeEntry[]>,
  maxBytes: number,
): Promise<number> {
  let bytes = END_BYTES + (path === '' ? 0 : headerBytes(headerOf(path, path)));
  for await (const page of pages) {
    for (const entry of page) {
      bytes += headerBytes(headerOf(path, entry.path, entry.node)) + padded(entry.node.size);
    }
    if (bytes > maxBytes) break;
  }
  return bytes;
}

/** Packs a directory as a tar archive (POSIX pax), in pieces of at most 1 MiB. All names begin with the directory's name. */
export async function* archive(options: ArchiveOptions): AsyncGenerator<Uint8Array> {
  const pack = openPack();
  // The consumer sees a failure through iteration. Once it has stopped reading, an unhandled error would end the process.
  pack.on('error', () => {});
  const filling = fill(pack, options).then(
    () => pack.finalize(),
    (error: unknown) => pack.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  try {
    for await (const piece of pack) yield piece as Uint8Array;
  } finally {
    pack.destroy();
    await filling;
  }
}

async function fill(pack: Pack, options: ArchiveOptions): Promise<void> {
  const { path, top, pages, contents, reader, signal, readOptions: call } = options;
  if (top) await add(pack, headerOf(path, path, top), Buffer.alloc(0));
  for await (const page of pages) {
    for await (const { entry, content, bytes } of prefetchContents(page, {
      contents,
      reader,
      signal,
      call,
    })) {
      const header = headerOf(path, entry.path, entry.node);
      if (bytes || !content) await add(pack, header, bytes ?? Buffer.alloc(0));
      else await stream(pack, header, reader, content, signal);
    }
  }
}

function add(pack: Pack, header: Packed, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error?: Error | null) => (error ? reject(error) : resolve());
    const entry = header.type === 'file' ? pack.entry(header, bytes, done) : pack.entry(header, done);
    entry.on('error', reject);
  });
}

async function stream(
  pack: Pack,
  header: Packed,
  reader: ContentReader,
  content: StoredContent,
  signal: AbortSignal,
): Promise<void> {
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const entry = pack.entry(header, (error) => (error ? reject(error) : resolve()));
  entry.on('error', reject);
  // The consumer may stop reading at any time, and then the rejection is not awaited.
  ended.catch(() => {});
  for await (const piece of reader.read(content, 0, content.size, signal)) {
    if (!entry.write(piece)) await Promise.race([drained(entry), ended]);
  }
  entry.end(undefined);
  await ended;
}

function drained(entry: ReturnType<Pack['entry']>): Promise<void> {
  return new Promise((resolve) => void entry.once('drain', resolve));
}

function headerOf(root: string, path: string, node?: Node): Packed {
  const isDirectory = !node || node.kind === 'directory';
  const parent = root.slice(0, root.length - baseNameOf(root).length);
  const name = `${path.slice(parent.length)}${isDirectory ? '/' : ''}`;
  const link = node?.kind === 'symlink' ? node.target : '';
  return {
    name,
    type: isDirectory ? 'directory' : node.kind === 'symlink' ? 'symlink' : 'file',
    size: node?.size ?? 0,
    mode: isDirectory || node.executable ? 0o755 : 0o644,
    mtime: node && node.modifiedAt < LATEST ? node.modifiedAt : node ? LATEST : new Date(0),
    ...(link === '' ? {} : { linkname: link }),
    ...(isPlain(name) && isPlain(link) ? {} : { pax: {} }),
  };
}

/** Returns whether the text fits into a header without a pax record. */
function isPlain(text: string): boolean {
  return /^[ -~]{0,100}$/.test(text);
}

function headerBytes({ name, linkname, pax }: Packed): number {
  if (!pax) return BLOCK;
  const records = recordBytes('path', name) + (linkname ? recordBytes('linkpath', linkname) : 0);
  return 2 * BLOCK + padded(records);
}

/** A pax record begins with its own length in decimal digits, which are part of that length. */
function recordBytes(key: string, value: string): number {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  const digits = String(rest).length;
  return rest + String(rest + digits).length;
}

function padded(bytes: number): number {
  return Math.ceil(bytes / BLOCK) * BLOCK;
}
