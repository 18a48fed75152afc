import {
  File,
  FileCode,
  FileImage,
  FileSymlink,
  FileTerminal,
  FileText,
  Folder,
  FolderOpen,
} from 'lucide-react';
import type { FileEntry } from '../../gen/index.ts';

/** Icon for the kind and media type of an entry. */
export function EntryIcon({ entry, isOpen }: { entry: FileEntry; isOpen?: boolean }) {
  const Icon = iconOf(entry, isOpen);
  return <Icon aria-hidden className="size-4 shrink-0 text-muted" />;
}

function iconOf({ kind, executable, media_type: type }: FileEntry, isOpen?: boolean) {
  if (kind === 'directory') return isOpen ? FolderOpen : Folder;
  if (kind === 'symlink') return FileSymlink;
  if (executable) return FileTerminal;
  if (type?.startsWith('image/')) return FileImage;
  if (type === 'text/plain' || type === 'text/markdown') return FileText;
  return type?.startsWith('text/') || type?.startsWith('application/j') ? FileCode : File;
}
