import type { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../../../api/client.ts';
import { files, type WorkspaceRef } from '../../../api/files.ts';
import type { ListPage } from '../../../api/pages.ts';
import type { FileEntry } from '../../../gen/index.ts';
import { compareNames, folderOf, nameOf } from '../paths.ts';

export interface FolderPage extends ListPage<FileEntry> {
  cursor: string | undefined;
  /** Revision of the cache when the page was requested. */
  revision: number;
}

/** An immutable snapshot of the loaded part of a folder. */
export interface FolderState {
  path: string;
  pages: readonly FolderPage[];
  /** Error of the last request; kept during a retry. */
  error: unknown;
  isRetrying: boolean;
}

/** Placeholder entry for a folder whose metadata is not loaded. */
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

const UNKNOWN: Omit<FolderState, 'path'> = { pages: [], error: undefined, isRetrying: false };

/**
 * The loaded folders of a workspace. Folders load page by page. After a change only visible pages are loaded again, because a
 * full reload of a long folder takes one request per hundred files.
 */
export class FolderCache {
  readonly #workspace: WorkspaceRef;
  readonly #queries: QueryClient;
  readonly #listeners = new Set<() => void>();
  readonly #loading = new Set<string>();
  #folders: ReadonlyMap<string, FolderState> = new Map();
  #revision = 0;

  constructor(workspace: WorkspaceRef, queries: QueryClient) {
    this.#workspace = workspace;
    this.#queries = queries;
  }

  get all(): ReadonlyMap<string, FolderState> {
    return this.#folders;
  }

  /** Number of invalidations. */
  get revision(): number {
    return this.#revision;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** Marks all pages as outdated. A page is loaded again when it is next visible. */
  invalidate(): void {
    this.#revision++;
    this.#folders = new Map(
      Array.from(this.#folders, ([path, folder]) => [
        path,
        { ...folder, error: undefined, isRetrying: false },
      ]),
    );
    this.#notify();
  }

  folder(path: string): FolderState {
    return this.#folders.get(path) ?? { path, ...UNKNOWN };
  }

  find(path: string): FileEntry | undefined {
    for (const { items } of this.folder(folderOf(path)).pages) {
      const found = items.find((entry) => entry.path === path);
      if (found) return found;
    }
    return undefined;
  }

  /** Loads a visible page of a folder if it is missing or outdated. */
  load(path: string, index = 0): void {
    const { pages, error } = this.folder(path);
    const page = pages[index];
    // A failed request is retried only after a user action or an invalidation.
    if (error === undefined && (!page || page.revision < this.#revision)) void this.#load(path, index);
  }

  /** Loads the next page of a folder. */
  loadMore(path: string): void {
    const { pages, error } = this.folder(path);
    if (pages.at(-1)?.next && error === undefined) void this.#load(path, pages.length);
  }

  /** Retries a failed request. */
  retry(path: string): void {
    const folder = this.folder(path);
    if (folder.isRetrying) return;
    this.#set({ ...folder, isRetrying: true });
    this.#notify();
    const { pages } = folder;
    void this.#load(path, pages.at(-1)?.next || pages.length === 0 ? pages.length : 0);
  }

  async #load(path: string, index: number): Promise<void> {
    const key = `${index} ${path}`;
    if (this.#loading.has(key)) return;
    this.#loading.add(key);
    try {
      const page = await this.#loadPage(path, index);
      const { pages } = this.folder(path);
      this.#set({ path, pages: pages.toSpliced(index, 1, page), error: undefined, isRetrying: false });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'FILE_NOT_FOUND' && path !== '') this.#markDeleted(path);
      // An invalid cursor cannot be retried, so the folder starts again from its first page.
      else
        this.#set({
          ...this.folder(path),
          error,
          isRetrying: false,
          ...(error.code === 'INVALID_CURSOR' ? { pages: [] } : {}),
        });
    } finally {
      this.#loading.delete(key);
    }
    this.#notify();
  }

  /** Shows a deleted folder as empty until its parent folder has been loaded again. */
  #markDeleted(path: string): void {
    const emptyPage = { cursor: undefined, items: [], next: undefined, revision: this.#revision };
    this.#set({ path, pages: [emptyPage], error: undefined, isRetrying: false });
    const parent = folderOf(path);
    const page = this.folder(parent).pages.findIndex(({ items }) =>
      items.some((entry) => entry.path === path),
    );
    if (page >= 0) void this.#load(parent, page);
  }

  async #loadPage(path: string, index: number): Promise<FolderPage> {
    const { pages } = this.folder(path);
    const before = pages[index];
    const cursor = index === 0 ? undefined : pages[index - 1]?.next;
    const revision = this.#revision;
    let { items, next } = await this.#fetch(path, cursor);
    const last = before?.next ? before.items.at(-1)?.path : undefined;
    if (last === undefined) return { cursor, items, next, revision };
    // The next page starts after the last entry of the previous version of this page, so entries created in between
    // are added here.
    for (let end = items.at(-1); next && end && compareNames(end.path, last) < 0; end = items.at(-1)) {
      const more = await this.#fetch(path, next);
      items = [...items, ...more.items];
      next = more.next;
    }
    return {
      cursor,
      items: items.filter((entry) => compareNames(entry.path, last) <= 0),
      next: before?.next,
      revision,
    };
  }

  #fetch(path: string, cursor: string | undefined): Promise<ListPage<FileEntry>> {
    return this.#queries.fetchQuery({
      ...files.page(this.#workspace, path, cursor),
      staleTime: 0,
      gcTime: 0,
    });
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  #set(folder: FolderState): void {
    this.#folders = new Map(this.#folders).set(folder.path, folder);
  }
}
