import { ApiError } from '../../../api/client.ts';
import { files, type WorkspaceRef } from '../../../api/files.ts';
import { type FileToUpload, isSafeInForm, uploadFiles } from '../../../api/upload.ts';
import { messageOf, sentenceOf } from '../../errors/error-state.tsx';
import { join } from '../paths.ts';
import { isReadable } from './readable.ts';
import type { SelectedFiles } from './selected-files.ts';
import { type UploadState, type UploadsView, viewOf } from './uploads-view.ts';

interface QueuedUpload extends UploadState {
  directory: string;
  name: string;
  file: File | undefined;
  /** Maximum number of files in a request with this file. With 1, its failure affects no other file. */
  maxBatchFiles: number;
}

interface Batch {
  items: QueuedUpload[];
  abort: AbortController;
}

const MAX_REQUESTS = 2;
/** Small files share a request, because one request per file would take longer than the transfer. */
const BATCH_FILES = 100;
const BATCH_BYTES = 8 * 1024 * 1024;
const NOTIFY_MS = 50;
const SECOND_MS = 1_000;
/** Errors of single files in a batch that do not name the file. */
const SINGLE_FILE_ERRORS: ReadonlySet<string> = new Set(['FILE_TOO_LARGE', 'NAME_TAKEN', 'QUOTA_EXCEEDED']);

/** Uploads to a workspace in order, with at most MAX_REQUESTS parallel requests. Uploads continue on other pages. */
export class UploadQueue {
  readonly #workspace: WorkspaceRef;
  readonly #onChange: () => void;
  readonly #onError: (error: ApiError) => void;
  readonly #listeners = new Set<() => void>();
  readonly #batches = new Set<Batch>();
  #items: QueuedUpload[] = [];
  #ids = 0;
  #view = viewOf([], 0);
  #isNotified = true;
  /** Requests are paused until this time, as `performance.now()`. */
  #resumesAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `onChange` is called after each successful request, `onError` for each failed one. */
  constructor(workspace: WorkspaceRef, onChange: () => void, onError: (error: ApiError) => void) {
    this.#workspace = workspace;
    this.#onChange = onChange;
    this.#onError = onError;
  }

  get view(): UploadsView {
    return this.#view;
  }

  /** No uploads are pending, failed, or shown as done. */
  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  add(directory: string, { files, emptyFolders }: SelectedFiles): void {
    if (!this.#items.some(isOpen)) this.#items = this.#items.filter(isFailed);
    for (const { name, file } of files) this.#items.push(this.#item(directory, name, file));
    for (const name of emptyFolders) this.#items.push(this.#item(directory, name, undefined));
    this.#pump();
  }

  /** Cancels an upload, or all without an id. Other files of the same request are sent again. */
  cancel(id?: number): void {
    const isCancelled = (item: QueuedUpload) => item.state !== 'done' && (id === undefined || item.id === id);
    for (const batch of this.#batches)
      if (batch.items.some(isCancelled)) {
        for (const item of batch.items) Object.assign(item, { state: 'waiting', progress: 0 });
        batch.abort.abort();
      }
    this.#items = this.#items.filter((item) => !isCancelled(item));
    this.#pump();
  }

  /** Retries a failed upload, or all without an id. */
  retry(id?: number): void {
    for (const item of this.#items)
      if (isFailed(item) && (id === undefined || item.id === id))
        Object.assign(item, { state: 'waiting', progress: 0, reason: '', maxBatchFiles: 1 });
    this.#pump();
  }

  /** Removes finished and failed uploads. */
  dismiss(): void {
    this.#items = this.#items.filter(isOpen);
    this.#notify();
  }

  #item(directory: string, name: string, file: File | undefined): QueuedUpload {
    return {
      id: ++this.#ids,
      path: join(directory, name),
      size: file?.size ?? 0,
      progress: 0,
      state: 'waiting',
      reason: '',
      directory,
      name,
      file,
      maxBatchFiles: file && isSafeInForm(name) ? BATCH_FILES : 1,
    };
  }

  #pump(): void {
    while (this.#batches.size < MAX_REQUESTS && this.#pauseMs === 0) {
      const items = this.#next();
      if (items.length === 0) break;
      void this.#send({ items, abort: new AbortController() });
    }
    this.#notify();
  }

  get #pauseMs(): number {
    return Math.max(0, this.#resumesAt - performance.now());
  }

  /** Pauses all requests because of a rate limit. They continue automatically. */
  #pause(ms: number): void {
    this.#resumesAt = Math.max(this.#resumesAt, performance.now() + ms);
    this.#tick();
  }

  #tick(): void {
    clearTimeout(this.#timer);
    const left = this.#pauseMs;
    if (left === 0) {
      this.#pump();
      return;
    }
    this.#timer = setTimeout(() => this.#tick(), left % SECOND_MS || SECOND_MS);
    this.#notify();
  }

  #next(): QueuedUpload[] {
    const batch: QueuedUpload[] = [];
    let bytes = 0;
    for (const item of this.#items) {
      if (item.state !== 'waiting') continue;
      const [first] = batch;
      const isFull = batch.length >= Math.min(first?.maxBatchFiles ?? BATCH_FILES, item.maxBatchFiles);
      const isOver = isFull || bytes + item.size > BATCH_BYTES;
      if (first && (isOver || item.directory !== first.directory)) break;
      batch.push(item);
      bytes += item.size;
    }
    return batch;
  }

  async #send(batch: Batch): Promise<void> {
    const { items, abort: leaving } = batch;
    this.#batches.add(batch);
    for (const item of items) item.state = 'sending';
    try {
      await this.#upload(batch);
      for (const item of items) Object.assign(item, { state: 'done', progress: 1, file: undefined });
      this.#onChange();
    } catch (error) {
      if (!leaving.signal.aborted) await this.#fail(batch, error);
    } finally {
      this.#batches.delete(batch);
      this.#pump();
    }
  }

  async #upload({ items, abort: { signal } }: Batch): Promise<void> {
    const [first] = items;
    if (!first) return;
    if (!first.file) return void (await files.makeDirectory(this.#workspace, first.path));
    const all: FileToUpload[] = items.flatMap(({ name, file }) => (file ? [{ name, file }] : []));
    const onProgress = (fraction: number) => {
      if (!signal.aborted) this.#progress(items, fraction);
    };
    await uploadFiles(this.#workspace, first.directory, all, onProgress, signal);
  }

  /** Distributes the progress of a request over its files, which are sent in order. */
  #progress(items: readonly QueuedUpload[], fraction: number): void {
    let sent = fraction * items.reduce((sum, { size }) => sum + size, 0);
    for (const item of items) {
      item.progress = item.size === 0 ? fraction : Math.min(1, Math.max(0, sent / item.size));
      sent -= item.size;
    }
    this.#notify();
  }

  /**
   * When the error names the failed file, the other files of the request are sent again. Otherwise the batch is halved until
   * the failed file is alone.
   */
  async #fail({ items, abort: { signal } }: Batch, error: unknown): Promise<void> {
    if (error instanceof ApiError) this.#onError(error);
    // Only rate limits end by waiting. A full quota also returns 429.
    if (error instanceof ApiError && error.code === 'RATE_LIMITED' && error.retryAfterMs !== undefined) {
      for (const item of items) Object.assign(item, { progress: 0, state: 'waiting' });
      return this.#pause(error.retryAfterMs);
    }
    const reasons = await failedFilesOf(items, error);
    if (signal.aborted) return;
    if (
      reasons.size === 0 &&
      items.length > 1 &&
      error instanceof ApiError &&
      SINGLE_FILE_ERRORS.has(error.code)
    ) {
      const maxBatchFiles = Math.ceil(items.length / 2);
      for (const item of items) Object.assign(item, { progress: 0, state: 'waiting', maxBatchFiles });
      return;
    }
    items.forEach((item, index) => {
      const reason = reasons.size === 0 ? messageOf(error) : reasons.get(index);
      Object.assign(item, {
        progress: 0,
        state: reason === undefined ? 'waiting' : 'failed',
        reason: reason ?? '',
      });
    });
  }

  /** Notifies listeners at most once per NOTIFY_MS. */
  #notify(): void {
    if (!this.#isNotified) return;
    this.#isNotified = false;
    setTimeout(() => {
      this.#isNotified = true;
      this.#view = viewOf(this.#items, this.#pauseMs);
      for (const listener of this.#listeners) listener();
    }, NOTIFY_MS);
  }
}

const isFailed = ({ state }: QueuedUpload) => state === 'failed';
const isOpen = ({ state }: QueuedUpload) => state === 'waiting' || state === 'sending';

/** Returns the known errors of single files in a batch, by index. */
async function failedFilesOf(items: readonly QueuedUpload[], error: unknown): Promise<Map<number, string>> {
  const reasons = new Map<number, string>();
  if (!(error instanceof ApiError)) return reasons;
  for (const { pointer, message } of error.details) {
    const [, index] = /^\/files\/(\d+)$/.exec(pointer) ?? [];
    if (index !== undefined && Number(index) < items.length)
      reasons.set(Number(index), sentenceOf(`The path ${message}`));
  }
  // Browsers report a file that was moved or changed after its selection as a network error.
  if (error.code === 'UNREACHABLE')
    for (const [index, { file }] of items.entries())
      if (file && !(await isReadable(file)))
        reasons.set(index, 'The file has changed since it was selected. Select it again.');
  return reasons;
}
