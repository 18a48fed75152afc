import type { Sending } from '../../api/upload.ts';

/** What somebody wants to upload. */
export interface Collected {
  files: Sending[];
  /** Folders in which there is nothing. */
  emptyFolders: string[];
  /** What could not be read. */
  unreadable: string[];
}

/** What has been chosen in a dialog of the browser. */
export function chosenFiles(list: FileList): Collected {
  const files = Array.from(list, (file) => ({ name: file.webkitRelativePath || file.name, file }));
  return { files, emptyFolders: [], unreadable: [] };
}

/** What has been dropped, with all that is in its folders. Has to be called while the event is handled. */
export async function droppedFiles(data: DataTransfer): Promise<Collected> {
  const found: Collected = { files: [], emptyFolders: [], unreadable: [] };
  // After the event there is nothing left in it.
  const items = Array.from(data.items, (item) => ({
    entry: item.kind === 'file' ? item.webkitGetAsEntry() : null,
    file: item.kind === 'file' ? item.getAsFile() : null,
  }));
  for (const { entry, file } of items) {
    if (entry) await collect(entry, entry.name, found);
    else if (file) found.files.push({ name: file.name, file });
  }
  return found;
}

async function collect(entry: FileSystemEntry, name: string, found: Collected): Promise<void> {
  try {
    if (isFile(entry)) {
      found.files.push({
        name,
        file: await new Promise<File>((resolve, reject) => entry.file(resolve, reject)),
      });
    } else if (isDirectory(entry)) {
      const children = await childrenOf(entry);
      if (children.length === 0) found.emptyFolders.push(name);
      for (const child of children) await collect(child, `${name}/${child.name}`, found);
    }
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    found.unreadable.push(name);
  }
}

/** A reader gives some at a time, and nothing when there are no more. */
async function childrenOf(entry: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = entry.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all;
    all.push(...some);
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isDirectory = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
