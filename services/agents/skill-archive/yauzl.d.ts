/** Types for the parts of yauzl that zip.ts uses. The package has no types. */
declare module 'yauzl' {
  import type { Readable } from 'node:stream';

  export interface Entry {
    /** Bytes, because the archive is opened with `decodeStrings: false`. */
    fileNameRaw: Buffer;
    extraFields: { id: number; data: Buffer }[];
    versionMadeBy: number;
    generalPurposeBitFlag: number;
    compressionMethod: number;
    compressedSize: number;
    uncompressedSize: number;
    crc32: number;
    externalFileAttributes: number;
  }

  export interface LocalFileHeader {
    fileName: Buffer;
    generalPurposeBitFlag: number;
  }

  export interface ZipFile {
    entryCount: number;
    eachEntry(): AsyncIterable<Entry>;
    readLocalFileHeaderPromise(entry: Entry): Promise<LocalFileHeader>;
    openReadStreamPromise(entry: Entry): Promise<Readable>;
    close(): void;
  }

  export function openPromise(
    path: string,
    options: { autoClose: boolean; lazyEntries: true; decodeStrings: false; validateEntrySizes: true },
  ): Promise<ZipFile>;
}
