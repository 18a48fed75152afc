import type { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../../api/client.ts';
import { files, type Place } from '../../api/files.ts';
import type { ListPage } from '../../api/pages.ts';
import type { FileEntry } from '../../gen/index.ts';
import { compareNames, folderOf, nameOf } from './paths.ts';

export interface FolderPage extends ListPage<FileEntry> {
  cursor: string | undefined;
  /** Of the round in which it was asked for. */
  round: number;
}

/** What is known of a folder at a moment. It never changes. */
export interface Folder {
  path: string;
  pages: readonly FolderPage[];
  /** Why it could not be read; also while that is tried again. */
  error: unknown;
  isTrying: boolean;
}

/** A folder of which nothing is known but that it is there. */
export const folderAt = (path: string): FileEntry => ({
  path,
  name: nameOf(path),
  kind: 'directory',
  size: 0,
  sha256: null,
  media_type: null,
  executable: false,
  target: null,
  modified_at: '',
});

const UNKNOWN: Omit<Folder, 'path'> = { pages: [], error: undefined, isTrying: false };

/**
 * The folders of a workspace as far as somebody has looked into them. They are read page by page, and what is looked at again
 * after a change is read again: never all of a long folder, which would be a request per hundred files.
 */
export class Folders {
  readonly #place: Place;
  readonly #queries: QueryClient;
  readonly #listeners = new Set<() => void>();
  readonly #reading = new Set<string>();
  #folders: ReadonlyMap<string, Folder> = new Map();
  #round = 0;

  constructor(place: Place, queries: QueryClient) {
    this.#place = place;
    this.#queries = queries;
  }

  get all(): ReadonlyMap<string, Folder> {
    return this.#folders;
  }

  /** How often something has changed. */
  get round(): number {
    return this.#round;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** Something in the workspace has changed: what is looked at from now on is read again. */
  renew(): void {
    this.#round++;
    this.#folders = new Map(
      Array.from(this.#folders, ([path, folder]) => [path, { ...folder, error: undefined, isTrying: false }]),
    );
    this.#tell();
  }

  folder(path: string): Folder {
    return this.#folders.get(path) ?? { path, ...UNKNOWN };
  }

  find(path: string): FileEntry | undefined {
    for (const { items } of this.folder(folderOf(path)).pages) {
      const found = items.find((entry) => entry.path === path);
      if (found) return found;
    }
    return undefined;
  }

  /** A page of a folder is looked at: the first, or one that is known. */
  look(path: string, index = 0): void {
    const { pages, error } = this.folder(path);
    const page = pages[index];
    // What has failed is not tried again by itself, but for a reason.
    if (error === undefined && (!page || page.round < this.#round)) void this.#read(path, index);
  }

  /** The page after all that are known of a folder is looked at. */
  more(path: string): void {
    const { pages, error } = this.folder(path);
    if (pages.at(-1)?.next && error === undefined) void this.#read(path, pages.length);
  }

  /** Tries again what has failed. */
  retry(path: string): void {
    const folder = this.folder(path);
    if (folder.isTrying) return;
    this.#keep({ ...folder, isTrying: true });
    this.#tell();
    const { pages } = folder;
    void this.#read(path, pages.at(-1)?.next || pages.length === 0 ? pages.length : 0);
  }

  async #read(path: string, index: number): Promise<void> {
    const key = `${index} ${path}`;
    if (this.#reading.has(key)) return;
    this.#reading.add(key);
    try {
      const page = await this.#page(path, index);
      const { pages } = this.folder(path);
      this.#keep({ path, pages: pages.toSpliced(index, 1, page), error: undefined, isTrying: false });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'FILE_NOT_FOUND' && path !== '') this.#forget(path);
      // Where a list went on is forgotten when that is no place any more.
      else
        this.#keep({
          ...this.folder(path),
          error,
          isTrying: false,
          ...(error.code === 'INVALID_CURSOR' ? { pages: [] } : {}),
        });
    } finally {
      this.#reading.delete(key);
    }
    this.#tell();
  }

  /** A folder that is gone is empty, until the folder it was in has been read again. */
  #forget(path: string): void {
    const nothing = { cursor: undefined, items: [], next: undefined, round: this.#round };
    this.#keep({ path, pages: [nothing], error: undefined, isTrying: false });
    const parent = folderOf(path);
    const page = this.folder(parent).pages.findIndex(({ items }) =>
      items.some((entry) => entry.path === path),
    );
    if (page >= 0) void this.#read(parent, page);
  }

  async #page(path: string, index: number): Promise<FolderPage> {
    const { pages } = this.folder(path);
    const before = pages[index];
    const cursor = index === 0 ? undefined : pages[index - 1]?.next;
    const round = this.#round;
    let { items, next } = await this.#ask(path, cursor);
    const last = before?.next ? before.items.at(-1)?.path : undefined;
    if (last === undefined) return { cursor, items, next, round };
    // The page after it begins where this one has ended so far: what has come in between belongs here.
    for (let end = items.at(-1); next && end && compareNames(end.path, last) < 0; end = items.at(-1)) {
      const more = await this.#ask(path, next);
      items = [...items, ...more.items];
      next = more.next;
    }
    return {
      cursor,
      items: items.filter((entry) => compareNames(entry.path, last) <= 0),
      next: before?.next,
      round,
    };
  }

  #ask(path: string, cursor: string | undefined): Promise<ListPage<FileEntry>> {
    return this.#queries.fetchQuery({ ...files.page(this.#place, path, cursor), staleTime: 0, gcTime: 0 });
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  #keep(folder: Folder): void {
    this.#folders = new Map(this.#folders).set(folder.path, folder);
  }
}
