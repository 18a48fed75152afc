import { CircleAlert, RotateCw, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Button, IconButton } from '../../../ui/button.tsx';
import { formatBytes } from '../../../ui/bytes.ts';
import { Progress } from '../../../ui/progress.tsx';
import { useLeaveWarning } from '../../navigation/leave-warning.ts';
import { durationText } from '../../text/duration.ts';
import { FileName } from '../file-name.tsx';
import type { UploadQueue } from './upload-queue.ts';
import type { UploadState, UploadsView } from './uploads-view.ts';

/** List of running and failed uploads with their progress. */
export function Uploads({ queue, view }: { queue: UploadQueue; view: UploadsView }) {
  const { shown, total, done, failed, open, bytes, sent, pauseMs } = view;
  useLeaveWarning(open > 0);
  const announcement = useAnnouncement(view);
  const hidden = open + failed - shown.length;
  return (
    <>
      <p role="status" className="sr-only">
        {announcement}
      </p>
      {total > 0 && (
        <section aria-label="Uploads" className="rounded-xl border border-line bg-surface">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 px-3 py-2">
            <span className="min-w-0 flex-1 basis-48 tabular-nums">
              {headline(view)}
              {open > 0 && (
                <span className="text-muted">
                  {' '}
                  · {formatBytes(sent)} of {formatBytes(bytes)}
                </span>
              )}
            </span>
            {failed > 1 && (
              <Button small onClick={() => queue.retry()}>
                <RotateCw aria-hidden />
                Retry all
              </Button>
            )}
            {open > 0 ? (
              <Button small onClick={() => queue.cancel()}>
                Cancel all
              </Button>
            ) : (
              <IconButton label="Dismiss" icon={<X />} onClick={() => queue.dismiss()} />
            )}
            {open > 0 && <Progress label="All uploads" fraction={bytes > 0 ? sent / bytes : done / total} />}
          </div>
          {shown.length > 0 && (
            <ul className="max-h-56 overflow-y-auto border-t border-line">
              {shown.map((upload) => (
                <UploadRow key={upload.id} upload={upload} pauseMs={pauseMs} queue={queue} />
              ))}
              {hidden > 0 && <li className="px-3 py-2 text-muted">and {hidden.toLocaleString('en')} more</li>}
            </ul>
          )}
        </section>
      )}
    </>
  );
}

interface UploadRowProps {
  upload: UploadState;
  pauseMs: number;
  queue: UploadQueue;
}

function UploadRow({ upload: { id, path, size, progress, state, reason }, pauseMs, queue }: UploadRowProps) {
  return (
    <li className="flex items-center gap-2 border-b border-line px-3 py-1.5 last:border-0">
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline gap-2">
          <span className="min-w-0 flex-1">
            <FileName text={path} truncate />
          </span>
          <span className="shrink-0 text-xs text-muted tabular-nums">
            {state === 'sending' && `${Math.floor(progress * 100)} % of `}
            {state === 'waiting' && pauseMs > 0 && `Waiting ${secondsText(pauseMs)} · `}
            {formatBytes(size)}
          </span>
        </div>
        {state === 'sending' && <Progress label={`Upload of ${path}`} fraction={progress} />}
        {state === 'failed' && (
          <div className="flex items-start gap-1.5 text-[13px] text-bad wrap-anywhere">
            <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
            {reason}
          </div>
        )}
      </div>
      {state === 'failed' && (
        <IconButton label={`Retry ${path}`} icon={<RotateCw />} onClick={() => queue.retry(id)} />
      )}
      <IconButton
        label={state === 'failed' ? `Dismiss ${path}` : `Cancel ${path}`}
        icon={<X />}
        onClick={() => queue.cancel(id)}
      />
    </li>
  );
}

function secondsText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : durationText(seconds * 1_000);
}

function headline({ total, done, failed, open, pauseMs }: UploadsView): string {
  const what = pauseMs > 0 ? 'Too many requests, uploads paused' : 'Uploading';
  if (open > 0) return `${what}: ${done.toLocaleString('en')} of ${total.toLocaleString('en')} done`;
  const uploaded = `${done.toLocaleString('en')} ${done === 1 ? 'file' : 'files'} uploaded`;
  return failed > 0 ? `${uploaded}, ${failed.toLocaleString('en')} failed` : uploaded;
}

/** Announces to screen readers the start, each quarter and the result of the uploads. */
function useAnnouncement(view: UploadsView): string {
  const [announcement, setAnnouncement] = useState('');
  const { total, done, failed, open, pauseMs } = view;
  const quarter = total === 0 ? -1 : Math.floor((4 * done) / total);
  const text = total === 0 ? '' : headline(view);
  const latest = useRef(text);
  latest.current = text;
  const step = `${open > 0} ${pauseMs > 0} ${failed} ${quarter}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: announced once per step
  useEffect(() => setAnnouncement(latest.current), [step]);
  return announcement;
}
