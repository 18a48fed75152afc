import { copyFile, type FileHandle, open, readFile } from 'node:fs/promises';

const LIMIT_BYTES = 4 * 1024 * 1024;
const LOOK_MS = 30_000;

/**
 * The file that the server writes its log to, by itself, so that it needs no living reader. When it has grown
 * large its content moves to `<file>.1` and it begins anew: two files, a few megabytes in all.
 */
export class Output implements AsyncDisposable {
  readonly file: string;
  readonly #handle: FileHandle;
  readonly #timer: NodeJS.Timeout;

  private constructor(file: string, handle: FileHandle) {
    this.file = file;
    this.#handle = handle;
    this.#timer = setInterval(() => void this.#turn().catch(() => {}), LOOK_MS).unref();
  }

  static async open(file: string): Promise<Output> {
    const output = new Output(file, await open(file, 'a', 0o600));
    await output.#turn();
    return output;
  }

  get fd(): number {
    return this.#handle.fd;
  }

  async size(): Promise<number> {
    return (await this.#handle.stat()).size;
  }

  /** What was written from a position on, when it is not too much. */
  async since(position: number): Promise<string> {
    return (await readFile(this.file)).subarray(position).toString();
  }

  async #turn(): Promise<void> {
    if ((await this.size()) < LIMIT_BYTES) return;
    await copyFile(this.file, `${this.file}.1`);
    // The server appends, so it goes on at the new end.
    await this.#handle.truncate(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#handle.close();
  }
}
