import { badRequest } from './errors.ts';

export interface StoredFile {
  file_id: string;
  file_unique_id: string;
  file_size: number;
  /** The path below `/file/bot<token>/`. */
  path: string;
  bytes: Uint8Array;
}

/** A bot can load files of at most 20 MiB and send files of at most 50 MB. */
export const MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024;
export const MAX_UPLOAD_BYTES = 50 * 1000 * 1000;

export interface FileStore {
  put(folder: string, name: string, bytes: Uint8Array): StoredFile;
  /** Refuses an unknown id with status 400. */
  get(fileId: string): StoredFile;
  byPath(path: string): StoredFile | undefined;
  /** Removes the bytes of a file, as after an hour or at the sender's request. */
  forget(fileId: string): void;
}

export function createFileStore(random: () => number): FileStore {
  const files = new Map<string, StoredFile>();
  let count = 0;
  const identifier = (length: number) =>
    Array.from({ length }, () => Math.floor(random() * 36).toString(36)).join('');

  return {
    put(folder, name, bytes) {
      const extension = /\.[a-z0-9]{1,8}$/i.exec(name)?.[0] ?? '';
      const file: StoredFile = {
        file_id: `BQAC${identifier(40)}`,
        file_unique_id: `AgAD${identifier(10)}`,
        file_size: bytes.length,
        path: `${folder}/file_${count++}${extension}`,
        bytes,
      };
      files.set(file.file_id, file);
      return file;
    },
    get(fileId) {
      const file = files.get(fileId);
      if (!file) throw badRequest('wrong file_id or the file is temporarily unavailable');
      return file;
    },
    byPath: (path) => [...files.values()].find((file) => file.path === path),
    forget: (fileId) => files.delete(fileId),
  };
}
