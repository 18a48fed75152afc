import { FileUp, RotateCw, X } from 'lucide-react';
import { type DragEvent, useEffect, useRef, useState } from 'react';
import type { PublishedSkill } from '../../../api/skills.ts';
import { FileName } from '../../../parts/files/file-name.tsx';
import { Button } from '../../../ui/button.tsx';
import { formatBytes } from '../../../ui/bytes.ts';
import { classes } from '../../../ui/classes.ts';
import { Progress } from '../../../ui/progress.tsx';
import { ACCEPTED_FILES } from './archive.ts';
import { droppedArchive } from './dropped-archive.ts';
import { UploadProblem } from './upload-problem.tsx';
import { type ArchiveUploadState, useArchiveUpload } from './use-archive-upload.ts';

export interface ArchiveUploadProps {
  /** The skill that gets a version; without it a skill is created. */
  skillId?: string;
  onPublished: (published: PublishedSkill) => void;
}

/** Area that takes an archive from a file dialog or by drag and drop, and sends it. */
export function ArchiveUpload({ skillId, onPublished }: ArchiveUploadProps) {
  const { upload, start, refuse, cancel } = useArchiveUpload(skillId, onPublished);
  const input = useRef<HTMLInputElement>(null);
  const isSending = upload.state === 'sending';
  const { isOver, handlers } = useDrop(!isSending, (file) =>
    typeof file === 'string' ? refuse(file) : start(file),
  );
  const box = useFocusedButton(isSending);
  return (
    <div className="flex flex-col gap-3">
      <p role="status" className="sr-only">
        {announcementOf(upload)}
      </p>
      <div
        {...handlers}
        ref={box}
        className={classes(
          'flex flex-col items-center gap-3 rounded-xl border-2 border-dashed px-4 py-8 text-center',
          isOver ? 'border-accent bg-accent-soft' : 'border-line',
        )}
      >
        {isSending ? (
          <Sending upload={upload} onCancel={cancel} />
        ) : (
          <>
            <FileUp aria-hidden className="size-6 text-muted" />
            <p className="text-muted">Drop a zip, tar or tar.gz archive of at most 20 MiB here.</p>
            <Button look="primary" onClick={() => input.current?.click()}>
              Choose an archive
            </Button>
          </>
        )}
      </div>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="Archive of the skill"
        accept={ACCEPTED_FILES}
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file) start(file);
          // Without a reset, selecting the same file again fires no event.
          currentTarget.value = '';
        }}
      />
      {upload.state === 'failed' && (
        <>
          <UploadProblem problem={upload.problem} />
          {upload.file && isWorthRetry(upload) && (
            <Button className="self-start" onClick={() => upload.file && start(upload.file)}>
              <RotateCw aria-hidden />
              Send {upload.file.name} again
            </Button>
          )}
        </>
      )}
    </div>
  );
}

type Upload<State> = Extract<ArchiveUploadState, { state: State }>;

const isWorthRetry = ({ problem }: Upload<'failed'>) => typeof problem !== 'string' && problem.retryable;

function Sending({
  upload: { file, fraction },
  onCancel,
}: {
  upload: Upload<'sending'>;
  onCancel: () => void;
}) {
  return (
    <div className="flex w-full max-w-md flex-col items-center gap-3">
      <p className="w-full">
        <FileName text={file.name} truncate />
        <span className="text-[13px] text-muted tabular-nums">
          {fraction < 1
            ? `${Math.floor(fraction * 100)} % of ${formatBytes(file.size)}`
            : 'The service checks the archive.'}
        </span>
      </p>
      <Progress label={`Upload of ${file.name}`} fraction={fraction} />
      <Button onClick={onCancel}>
        <X aria-hidden />
        Cancel
      </Button>
    </div>
  );
}

/** The start and the end of the transfer. Problems are alerts. */
function announcementOf(upload: ArchiveUploadState): string {
  if (upload.state !== 'sending') return '';
  return upload.fraction < 1
    ? `Uploading ${upload.file.name}.`
    : 'The archive was sent. The service checks it.';
}

function useDrop(isEnabled: boolean, onFile: (file: File | string) => void) {
  const [isOver, setOver] = useState(false);
  const handlers = {
    onDragOver(event: DragEvent) {
      if (!event.dataTransfer.types.includes('Files')) return;
      // Without this the browser would open the file in place of the page.
      event.preventDefault();
      event.dataTransfer.dropEffect = isEnabled ? 'copy' : 'none';
      setOver(isEnabled);
    },
    onDragLeave(event: DragEvent) {
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
    },
    onDrop(event: DragEvent) {
      event.preventDefault();
      setOver(false);
      if (isEnabled) onFile(droppedArchive(event.dataTransfer));
    },
  };
  return { isOver, handlers };
}

/** Focuses the button of the area when the area replaces a focused button. */
function useFocusedButton(isSending: boolean) {
  const box = useRef<HTMLDivElement>(null);
  const was = useRef(isSending);
  useEffect(() => {
    if (was.current !== isSending && document.activeElement === document.body)
      box.current?.querySelector('button')?.focus();
    was.current = isSending;
  }, [isSending]);
  return box;
}
