import { ApiError } from '../../api/client.ts';
import { files, type Place } from '../../api/files.ts';
import { fitsForm, type Sending, sendFiles } from '../../api/upload.ts';
import { messageOf } from '../faults/failure.tsx';
import type { Collected } from './dropped.ts';
import { join } from './paths.ts';
import { type Upload, type UploadsView, viewOf } from './uploads-view.ts';

interface Item extends Upload {
  directory: string;
  name: string;
  file: File | undefined;
  /** As many files go in one request with it, itself included. Alone, nothing else fails with it. */
  company: number;
}

interface Batch {
  items: Item[];
  leaving: AbortController;
}

const REQUESTS_AT_ONCE = 2;
/** Small files go together: a request for each would take longer than their bytes. */
const BATCH_FILES = 100;
const BATCH_BYTES = 8 * 1024 * 1024;
const TELL_MS = 50;
const SECOND_MS = 1_000;
/** Refusals of some of several files that do not say of which. */
const OF_ONE: ReadonlySet<string> = new Set(['FILE_TOO_LARGE', 'NAME_TAKEN', 'QUOTA_EXCEEDED']);

/** Uploads to a workspace, in their order, a few requests at a time. They go on while other pages are looked at. */
export class UploadQueue {
  readonly #place: Place;
  readonly #onChange: () => void;
  readonly #onRefused: (error: ApiError) => void;
  readonly #listeners = new Set<() => void>();
  readonly #batches = new Set<Batch>();
  #items: Item[] = [];
  #ids = 0;
  #view = viewOf([], 0);
  #isTold = true;
  /** Nothing is sent before; on the clock of the page. */
  #resumesAt = 0;
  #ticking: ReturnType<typeof setTimeout> | undefined;

  /** `onChange` is called after each request that has changed something. */
  constructor(place: Place, onChange: () => void, onRefused: (error: ApiError) => void) {
    this.#place = place;
    this.#onChange = onChange;
    this.#onRefused = onRefused;
  }

  get view(): UploadsView {
    return this.#view;
  }

  /** Nothing is under way, has failed, or is still said to be done. */
  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  add(directory: string, { files, emptyFolders }: Collected): void {
    if (!this.#items.some(isOpen)) this.#items = this.#items.filter(isFailed);
    for (const { name, file } of files) this.#items.push(this.#item(directory, name, file));
    for (const name of emptyFolders) this.#items.push(this.#item(directory, name, undefined));
    this.#pump();
  }

  /** Without an id: everything. What was under way with it begins again. */
  cancel(id?: number): void {
    const isMeant = (item: Item) => item.state !== 'done' && (id === undefined || item.id === id);
    for (const batch of this.#batches)
      if (batch.items.some(isMeant)) {
        for (const item of batch.items) Object.assign(item, { state: 'waiting', part: 0 });
        batch.leaving.abort();
      }
    this.#items = this.#items.filter((item) => !isMeant(item));
    this.#pump();
  }

  /** Without an id: all that has failed. */
  retry(id?: number): void {
    for (const item of this.#items)
      if (isFailed(item) && (id === undefined || item.id === id))
        Object.assign(item, { state: 'waiting', part: 0, reason: '', company: 1 });
    this.#pump();
  }

  /** Forgets what has come to an end. */
  dismiss(): void {
    this.#items = this.#items.filter(isOpen);
    this.#tell();
  }

  #item(directory: string, name: string, file: File | undefined): Item {
    return {
      id: ++this.#ids,
      path: join(directory, name),
      size: file?.size ?? 0,
      part: 0,
      state: 'waiting',
      reason: '',
      directory,
      name,
      file,
      company: file && fitsForm(name) ? BATCH_FILES : 1,
    };
  }

  #pump(): void {
    while (this.#batches.size < REQUESTS_AT_ONCE && this.#pauseMs === 0) {
      const items = this.#next();
      if (items.length === 0) break;
      void this.#send({ items, leaving: new AbortController() });
    }
    this.#tell();
  }

  get #pauseMs(): number {
    return Math.max(0, this.#resumesAt - performance.now());
  }

  /** The service wants to be left alone for a while; then it goes on by itself. */
  #pause(ms: number): void {
    this.#resumesAt = Math.max(this.#resumesAt, performance.now() + ms);
    this.#tick();
  }

  #tick(): void {
    clearTimeout(this.#ticking);
    const left = this.#pauseMs;
    if (left === 0) {
      this.#pump();
      return;
    }
    this.#ticking = setTimeout(() => this.#tick(), left % SECOND_MS || SECOND_MS);
    this.#tell();
  }

  #next(): Item[] {
    const batch: Item[] = [];
    let bytes = 0;
    for (const item of this.#items) {
      if (item.state !== 'waiting') continue;
      const [first] = batch;
      const isFull = batch.length >= Math.min(first?.company ?? BATCH_FILES, item.company);
      const isOver = isFull || bytes + item.size > BATCH_BYTES;
      if (first && (isOver || item.directory !== first.directory)) break;
      batch.push(item);
      bytes += item.size;
    }
    return batch;
  }

  async #send(batch: Batch): Promise<void> {
    const { items, leaving } = batch;
    this.#batches.add(batch);
    for (const item of items) item.state = 'sending';
    try {
      await this.#put(batch);
      for (const item of items) Object.assign(item, { state: 'done', part: 1, file: undefined });
      this.#onChange();
    } catch (error) {
      if (!leaving.signal.aborted) await this.#fail(batch, error);
    } finally {
      this.#batches.delete(batch);
      this.#pump();
    }
  }

  async #put({ items, leaving: { signal } }: Batch): Promise<void> {
    const [first] = items;
    if (!first) return;
    if (!first.file) return void (await files.makeDirectory(this.#place, first.path));
    const all: Sending[] = items.flatMap(({ name, file }) => (file ? [{ name, file }] : []));
    const onProgress = (part: number) => {
      if (!signal.aborted) this.#progress(items, part);
    };
    await sendFiles(this.#place, first.directory, all, onProgress, signal);
  }

  /** Files are sent in their order. */
  #progress(items: readonly Item[], part: number): void {
    let sent = part * items.reduce((sum, { size }) => sum + size, 0);
    for (const item of items) {
      item.part = item.size === 0 ? part : Math.min(1, Math.max(0, sent / item.size));
      sent -= item.size;
    }
    this.#tell();
  }

  /**
   * Where it is known which file was wrong, the others of its request are sent again; where it is not, they are sent in
   * halves, until it stands alone.
   */
  async #fail({ items, leaving: { signal } }: Batch, error: unknown): Promise<void> {
    if (error instanceof ApiError) this.#onRefused(error);
    // Room, which may be refused with 429 as well, does not come from waiting.
    if (error instanceof ApiError && error.code === 'RATE_LIMITED' && error.retryAfterMs !== undefined) {
      for (const item of items) Object.assign(item, { part: 0, state: 'waiting' });
      return this.#pause(error.retryAfterMs);
    }
    const wrong = await wrongIn(items, error);
    if (signal.aborted) return;
    if (wrong.size === 0 && items.length > 1 && error instanceof ApiError && OF_ONE.has(error.code)) {
      const company = Math.ceil(items.length / 2);
      for (const item of items) Object.assign(item, { part: 0, state: 'waiting', company });
      return;
    }
    items.forEach((item, index) => {
      const reason = wrong.size === 0 ? messageOf(error) : wrong.get(index);
      Object.assign(item, {
        part: 0,
        state: reason === undefined ? 'waiting' : 'failed',
        reason: reason ?? '',
      });
    });
  }

  /** A few times a second. */
  #tell(): void {
    if (!this.#isTold) return;
    this.#isTold = false;
    setTimeout(() => {
      this.#isTold = true;
      this.#view = viewOf(this.#items, this.#pauseMs);
      for (const listener of this.#listeners) listener();
    }, TELL_MS);
  }
}

const isFailed = ({ state }: Item) => state === 'failed';
const isOpen = ({ state }: Item) => state === 'waiting' || state === 'sending';

/** Which of the files of a request were wrong, and why, as far as that is known. */
async function wrongIn(items: readonly Item[], error: unknown): Promise<Map<number, string>> {
  const wrong = new Map<number, string>();
  if (!(error instanceof ApiError)) return wrong;
  for (const { pointer, message } of error.details) {
    const [, index] = /^\/files\/(\d+)$/.exec(pointer) ?? [];
    if (index !== undefined && Number(index) < items.length) wrong.set(Number(index), `It ${message}`);
  }
  // Browsers say of a file that has been moved or changed since it was chosen that nobody has answered.
  if (error.code === 'UNREACHABLE')
    for (const [index, { file }] of items.entries())
      if (file && !(await isReadable(file))) wrong.set(index, 'It is not what it was: choose it again.');
  return wrong;
}

const isReadable = (file: File): Promise<boolean> =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );
