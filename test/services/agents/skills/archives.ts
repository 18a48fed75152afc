import { buffer } from 'node:stream/consumers';
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';

/** SKILL.md with a name and further lines of frontmatter. */
export function skillFile(
  name = 'pdf-forms',
  lines: string[] = ['description: Fills in PDF forms.'],
  body = '# Use\n',
) {
  return ['---', `name: ${name}`, ...lines, '---', body].join('\n');
}

interface ZipEntry {
  name: string | Buffer;
  data?: Buffer | string;
  /** Unix mode with its type. */
  mode?: number;
  flags?: number;
  method?: 0 | 8;
  /** False statements of the headers. */
  localName?: string;
  size?: number;
  checksum?: number;
  extra?: Buffer;
}

/** A zip archive, byte for byte, so that its headers can lie. */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { mode = 0o100644, flags = 0x800, method = 8, extra = Buffer.of() } = entry;
    const name = Buffer.from(entry.name);
    const localName = entry.localName === undefined ? name : Buffer.from(entry.localName);
    const data = Buffer.from(entry.data ?? '');
    const packed = method === 8 ? deflateRawSync(data) : data;
    const facts = Buffer.alloc(12);
    facts.writeUInt32LE(entry.checksum ?? crc32(data), 0);
    facts.writeUInt32LE(packed.length, 4);
    facts.writeUInt32LE(entry.size ?? data.length, 8);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt16LE(flags, 6);
    local.writeUInt16LE(method, 8);
    facts.copy(local, 14);
    local.writeUInt16LE(localName.length, 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE((3 << 8) | 20, 4);
    central.writeUInt16LE(20, 6);
    central.writeUInt16LE(flags, 8);
    central.writeUInt16LE(method, 10);
    facts.copy(central, 16);
    central.writeUInt16LE(name.length, 28);
    central.writeUInt16LE(extra.length, 30);
    central.writeUInt32LE((mode << 16) >>> 0, 38);
    central.writeUInt32LE(offset, 42);
    locals.push(local, localName, packed);
    centrals.push(central, name, extra);
    offset += local.length + localName.length + packed.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

/** A zip archive of a valid skill with further files. */
export function skillZip(name = 'pdf-forms', files: Record<string, string> = {}, lines?: string[]): Buffer {
  const entries = Object.entries({ 'SKILL.md': skillFile(name, lines), ...files });
  return zipOf(entries.map(([path, data]) => ({ name: path, data })));
}

type TarEntry = Partial<Header> & { name: string; data?: string | Buffer };

export async function tarOf(entries: readonly TarEntry[]): Promise<Buffer> {
  const packed = pack();
  for (const { data = '', ...header } of entries) packed.entry(header as Header, data as string);
  packed.finalize();
  return buffer(packed);
}

export const tarGzOf = async (entries: readonly TarEntry[]) => gzipSync(await tarOf(entries));
