import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** index.html is not compressed: it is small and revalidated by its digest. */
const TEXT = /\.(js|css|svg|json|map|txt|webmanifest|wasm)$/;

const FORMATS = [
  { extension: '.gz', pack: (bytes) => promisify(gzip)(bytes, { level: 9 }) },
  {
    extension: '.br',
    pack: (bytes) =>
      promisify(brotliCompress)(bytes, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        },
      }),
  },
];

/**
 * Writes compressed copies of each text file of a folder if they are shorter. Returns the number of text files and their
 * bytes, uncompressed and in the shortest form.
 */
export async function compress(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = entries.filter((entry) => entry.isFile() && TEXT.test(entry.name));
  const sizes = await Promise.all(texts.map((entry) => compressOne(join(entry.parentPath, entry.name))));
  const sum = (of) => sizes.reduce((all, size) => all + size[of], 0);
  return { files: texts.length, bytes: sum('bytes'), compressed: sum('compressed') };
}

async function compressOne(path) {
  const bytes = await readFile(path);
  let shortest = bytes.length;
  for (const { extension, pack } of FORMATS) {
    const packed = await pack(bytes);
    if (packed.length >= bytes.length) continue;
    await writeFile(path + extension, packed);
    shortest = Math.min(shortest, packed.length);
  }
  return { bytes: bytes.length, compressed: shortest };
}
