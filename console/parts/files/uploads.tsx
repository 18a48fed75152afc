import { CircleAlert, RotateCw, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { shownBytes } from '../../ui/bytes.ts';
import { Progress } from '../../ui/progress.tsx';
import { useLeaveWarning } from '../leave-warning.ts';
import { durationText } from '../text/duration.ts';
import { Name } from './name.tsx';
import type { UploadQueue } from './upload-queue.ts';
import type { Upload, UploadsView } from './uploads-view.ts';

/** What is being uploaded, how far it has got, and what has come to nothing. */
export function Uploads({ queue, view }: { queue: UploadQueue; view: UploadsView }) {
  const { shown, total, done, failed, open, bytes, sent, pauseMs } = view;
  useLeaveWarning(open > 0);
  const said = useAnnouncement(view);
  const hidden = open + failed - shown.length;
  return (
    <>
      <p role="status" className="sr-only">
        {said}
      </p>
      {total > 0 && (
        <section aria-label="Uploads" className="rounded-xl border border-line bg-surface">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 px-3 py-2">
            <span className="min-w-0 flex-1 basis-48 tabular-nums">
              {headline(view)}
              {open > 0 && (
                <span className="text-muted">
                  {' '}
                  · {shownBytes(sent)} of {shownBytes(bytes)}
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
            {open > 0 && <Progress label="All uploads" part={bytes > 0 ? sent / bytes : done / total} />}
          </div>
          {shown.length > 0 && (
            <ul className="max-h-56 overflow-y-auto border-t border-line">
              {shown.map((upload) => (
                <Line key={upload.id} upload={upload} pauseMs={pauseMs} queue={queue} />
              ))}
              {hidden > 0 && <li className="px-3 py-2 text-muted">and {hidden.toLocaleString('en')} more</li>}
            </ul>
          )}
        </section>
      )}
    </>
  );
}

interface LineProps {
  upload: Upload;
  pauseMs: number;
  queue: UploadQueue;
}

function Line({ upload: { id, path, size, part, state, reason }, pauseMs, queue }: LineProps) {
  return (
    <li className="flex items-center gap-2 border-b border-line px-3 py-1.5 last:border-0">
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline gap-2">
          <span className="min-w-0 flex-1">
            <Name text={path} cut />
          </span>
          <span className="shrink-0 text-xs text-muted tabular-nums">
            {state === 'sending' && `${Math.floor(part * 100)} % of `}
            {state === 'waiting' && pauseMs > 0 && `Waiting ${secondsText(pauseMs)} · `}
            {shownBytes(size)}
          </span>
        </div>
        {state === 'sending' && <Progress label={`Upload of ${path}`} part={part} />}
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
  const what = pauseMs > 0 ? 'Too many requests, so uploads wait' : 'Uploading';
  if (open > 0) return `${what}: ${done.toLocaleString('en')} of ${total.toLocaleString('en')} done`;
  const uploaded = `${done.toLocaleString('en')} ${done === 1 ? 'file' : 'files'} uploaded`;
  return failed > 0 ? `${uploaded}, ${failed.toLocaleString('en')} failed` : uploaded;
}

/** For who does not see it: when it begins, each quarter of the way, and how it has ended. */
function useAnnouncement(view: UploadsView): string {
  const [said, setSaid] = useState('');
  const { total, done, failed, open, pauseMs } = view;
  const quarter = total === 0 ? -1 : Math.floor((4 * done) / total);
  const text = total === 0 ? '' : headline(view);
  const latest = useRef(text);
  latest.current = text;
  const step = `${open > 0} ${pauseMs > 0} ${failed} ${quarter}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is said when it has come a step further
  useEffect(() => setSaid(latest.current), [step]);
  return said;
}
