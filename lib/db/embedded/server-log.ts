import { copyFile, type FileHandle, open, readFile } from 'node:fs/promises';

const LIMIT_BYTES = 4 * 1024 * 1024;
const CHECK_INTERVAL_MS = 30_000;

/**
 * The log file of the server. The server writes it directly, so it needs no reader process. A file of 4 MiB is copied to
 * `<file>.1` and truncated, so the log takes a few megabytes in two files.
 */
export class ServerLog implements AsyncDisposable {
  readonly file: string;
  readonly #handle: FileHandle;
  readonly #timer: NodeJS.Timeout;

  private constructor(file: string, handle: FileHandle) {
    this.file = file;
    this.#handle = handle;
    this.#timer = setInterval(() => void this.#rotate().catch(() => {}), CHECK_INTERVAL_MS).unref();
  }

  static async open(file: string): Promise<ServerLog> {
    const output = new ServerLog(file, await open(file, 'a', 0o600));
    await output.#rotate();
    return output;
  }

  get fd(): number {
    return this.#handle.fd;
  }

  async size(): Promise<number> {
    return (await this.#handle.stat()).size;
  }

  /** Returns the text after a position. Rotation can remove it. */
  async since(position: number): Promise<string> {
    return (await readFile(this.file)).subarray(position).toString();
  }

  async #rotate(): Promise<void> {
    if ((await this.size()) < LIMIT_BYTES) return;
    await copyFile(this.file, `${this.file}.1`);
    // The server opened the file for appending, so it continues at the new end.
    await this.#handle.truncate(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#handle.close();
  }
}
