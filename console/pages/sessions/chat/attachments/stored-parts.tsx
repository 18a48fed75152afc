import { File } from 'lucide-react';
import { partUrl } from '../../../../api/attachments.ts';
import type { StoredPart } from '../../../../journal/stored-part.ts';
import { FileName } from '../../../../parts/files/file-name.tsx';
import { formatBytes } from '../../../../ui/bytes.ts';

export interface StoredPartsProps {
  parts: readonly StoredPart[];
  sessionId: string;
}

/** The images and files of a message or a tool result. */
export function StoredParts({ parts, sessionId }: StoredPartsProps) {
  return (
    <ul aria-label="Images and files" className="mt-2 flex flex-wrap gap-2">
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message never change
        <li key={index} className="max-w-full">
          <StoredPartLink part={part} url={partUrl(sessionId, part.sha256)} />
        </li>
      ))}
    </ul>
  );
}

function StoredPartLink({ part, url }: { part: StoredPart; url: string }) {
  const { type, media_type: mediaType, name, size } = part;
  const label = name ?? (type === 'image' ? 'Image' : 'File');
  if (type === 'image')
    return (
      <a href={url} download={name ?? ''} className="block rounded-lg">
        <img
          src={url}
          alt={label}
          loading="lazy"
          className="max-h-72 max-w-full rounded-lg border border-line object-contain"
        />
      </a>
    );
  return (
    <a
      href={url}
      download={name ?? ''}
      className="flex max-w-full items-center gap-2 rounded-lg border border-line bg-surface px-3 py-2 hover:bg-sunken"
    >
      <File aria-hidden className="size-4 shrink-0 text-muted" />
      <span className="min-w-0">
        <FileName text={label} truncate />
        <span className="block text-xs text-muted">
          {mediaType}, {formatBytes(size)}
        </span>
      </span>
    </a>
  );
}
