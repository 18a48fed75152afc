import type { FileToUpload } from '../../../api/upload.ts';

/** Files and folders that the user selected or dropped for upload. */
export interface SelectedFiles {
  files: FileToUpload[];
  /** Paths of empty folders. */
  emptyFolders: string[];
  /** Paths that the browser could not read. */
  unreadable: string[];
}

/** Returns the files selected in a file dialog. */
export function chosenFiles(list: FileList): SelectedFiles {
  const files = Array.from(list, (file) => ({ name: file.webkitRelativePath || file.name, file }));
  return { files, emptyFolders: [], unreadable: [] };
}

/** Returns dropped files, including the content of folders. Must be called during the drop event. */
export async function droppedFiles(data: DataTransfer): Promise<SelectedFiles> {
  const selected: SelectedFiles = { files: [], emptyFolders: [], unreadable: [] };
  // The browser clears the data after the event.
  const items = Array.from(data.items, (item) => ({
    entry: item.kind === 'file' ? item.webkitGetAsEntry() : null,
    file: item.kind === 'file' ? item.getAsFile() : null,
  }));
  for (const { entry, file } of items) {
    if (entry) await collect(entry, entry.name, selected);
    else if (file) selected.files.push({ name: file.name, file });
  }
  return selected;
}

async function collect(entry: FileSystemEntry, name: string, selected: SelectedFiles): Promise<void> {
  try {
    if (isFile(entry)) {
      selected.files.push({
        name,
        file: await new Promise<File>((resolve, reject) => entry.file(resolve, reject)),
      });
    } else if (isDirectory(entry)) {
      const children = await childrenOf(entry);
      if (children.length === 0) selected.emptyFolders.push(name);
      for (const child of children) await collect(child, `${name}/${child.name}`, selected);
    }
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    selected.unreadable.push(name);
  }
}

/** `readEntries` returns a batch per call and an empty batch at the end. */
async function childrenOf(entry: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = entry.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (batch.length === 0) return all;
    all.push(...batch);
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isDirectory = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
