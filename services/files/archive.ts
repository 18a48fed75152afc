import { type Header, pack as openPack, type Pack } from 'tar-stream';
import { nameOf } from '../../lib/paths.ts';
import type { Node, Placed } from './domain/node.ts';
import { type LoadingOptions, withBytes } from './loading.ts';
import type { Reader } from './reader.ts';
import type { Content, Contents } from './store/contents.ts';

export interface ArchiveOptions {
  /** The directory that is packed; empty for the workspace. */
  path: string;
  /** What stands there; undefined for the workspace. */
  top: Node | undefined;
  /** What is in it, in the order of the paths. */
  pages: AsyncIterable<readonly Placed[]>;
  contents: Pick<Contents, 'contents'>;
  reader: Reader;
  signal: AbortSignal;
  /** How what is in it is read. */
  by?: LoadingOptions['call'];
}

type Packed = Pick<Header, 'name' | 'type' | 'size' | 'mode' | 'mtime'> &
  Partial<Pick<Header, 'linkname' | 'pax'>>;

const BLOCK = 512;
const END_BYTES = 2 * BLOCK;
/** The last second that every program can read in a header. */
const LATEST = new Date((2 ** 31 - 1) * 1_000);

/** How long the archive will be; or more than `most`, once it is clear that it will be. */
export async function archiveBytes(
  path: string,
  pages: AsyncIterable<readonly Placed[]>,
  most: number,
): Promise<number> {
  let bytes = END_BYTES + (path === '' ? 0 : headerBytes(headerOf(path, path)));
  for await (const page of pages) {
    for (const placed of page) {
      bytes += headerBytes(headerOf(path, placed.path, placed.node)) + padded(placed.node.size);
    }
    if (bytes > most) break;
  }
  return bytes;
}

/** A directory as a tar archive (POSIX pax), in pieces of at most 1 MiB. What it holds lies below its own name. */
export async function* archive(options: ArchiveOptions): AsyncGenerator<Uint8Array> {
  const pack = openPack();
  // Whoever reads hears of a failure; nobody does any more who has left, and unheard it would end the process.
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
  const { path, top, pages, contents, reader, signal, by: call } = options;
  if (top) await add(pack, headerOf(path, path, top), Buffer.alloc(0));
  for await (const page of pages) {
    for await (const { placed, content, bytes } of withBytes(page, { contents, reader, signal, call })) {
      const header = headerOf(path, placed.path, placed.node);
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
  reader: Reader,
  content: Content,
  signal: AbortSignal,
): Promise<void> {
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const entry = pack.entry(header, (error) => (error ? reject(error) : resolve()));
  entry.on('error', reject);
  // Whoever reads the archive may leave at any time.
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
  const above = root.slice(0, root.length - nameOf(root).length);
  const name = `${path.slice(above.length)}${isDirectory ? '/' : ''}`;
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

/** Fits into a header as it is. */
function isPlain(text: string): boolean {
  return /^[ -~]{0,100}$/.test(text);
}

function headerBytes({ name, linkname, pax }: Packed): number {
  if (!pax) return BLOCK;
  const records = recordBytes('path', name) + (linkname ? recordBytes('linkpath', linkname) : 0);
  return 2 * BLOCK + padded(records);
}

/** A record begins with its own length, which counts as well. */
function recordBytes(key: string, value: string): number {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  const digits = String(rest).length;
  return rest + String(rest + digits).length;
}

function padded(bytes: number): number {
  return Math.ceil(bytes / BLOCK) * BLOCK;
}
