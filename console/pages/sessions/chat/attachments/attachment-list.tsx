import { File, Image, RotateCw, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { isImageType } from '../../../../api/attachments.ts';
import { messageOf } from '../../../../parts/errors/error-state.tsx';
import { FileName } from '../../../../parts/files/file-name.tsx';
import { IconButton } from '../../../../ui/button.tsx';
import { formatBytes } from '../../../../ui/bytes.ts';
import { classes } from '../../../../ui/classes.ts';
import { Progress } from '../../../../ui/progress.tsx';
import { type Attachment, isReady } from './attachment.ts';
import type { Attachments } from './use-attachments.ts';

export interface AttachmentListProps {
  attachments: Attachments;
  /** The element with the focus is gone. */
  onFocusLost: () => void;
}

/** The images and files of the message that the user writes, with the progress of their uploads. */
export function AttachmentList({ attachments, onFocusLost }: AttachmentListProps) {
  const { items, remove, retry } = attachments;
  return (
    <ul aria-label="Attachments" className="flex max-h-48 flex-wrap gap-2 overflow-y-auto p-1">
      {items.map((item) => (
        <li
          key={item.id}
          className={classes(
            'flex w-60 max-w-full items-center gap-2 rounded-lg border bg-sunken py-1 ps-2 pe-1',
            item.error ? 'border-bad' : 'border-line',
          )}
        >
          <Thumbnail attachment={item} />
          <div className="min-w-0 flex-1 text-[13px]">
            <FileName text={item.name} truncate />
            <Progression attachment={item} />
          </div>
          {item.error !== undefined && (
            <IconButton
              label={`Upload ${item.name} again`}
              icon={<RotateCw />}
              onClick={() => retry(item.id)}
            />
          )}
          <IconButton
            label={`Remove ${item.name}`}
            icon={<X />}
            onClick={() => {
              remove(item.id);
              onFocusLost();
            }}
          />
        </li>
      ))}
    </ul>
  );
}

function Progression({ attachment }: { attachment: Attachment }) {
  const { name, size, progress, error } = attachment;
  if (error !== undefined)
    return (
      <p role="alert" className="text-xs text-bad wrap-anywhere">
        <span className="sr-only">{name}: </span>
        {messageOf(error)}
      </p>
    );
  if (isReady(attachment)) return <p className="text-xs text-muted">{formatBytes(size)}</p>;
  return <Progress label={`Upload of ${name}`} fraction={progress} />;
}

function Thumbnail({ attachment: { source, mediaType = '' } }: { attachment: Attachment }) {
  const file = source.kind === 'file' && isImageType(mediaType) ? source.file : undefined;
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!file) return;
    const created = URL.createObjectURL(file);
    setUrl(created);
    return () => URL.revokeObjectURL(created);
  }, [file]);
  if (url) return <img src={url} alt="" className="size-9 shrink-0 rounded object-cover" />;
  const Icon = mediaType.startsWith('image/') ? Image : File;
  return <Icon aria-hidden className="size-5 shrink-0 text-muted" />;
}
