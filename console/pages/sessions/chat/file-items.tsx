import { FilePen, FilePlus2, FileUp, FileX2 } from 'lucide-react';
import type { FileChanges, Upload } from '../../../journal/chat.ts';
import { countText } from '../../../journal/usage-text.ts';
import { TextLink } from '../../../parts/navigation/links.tsx';
import { formatBytes } from '../../../ui/bytes.ts';

const CHANGES = {
  created: { icon: FilePlus2, word: 'Created' },
  modified: { icon: FilePen, word: 'Modified' },
  deleted: { icon: FileX2, word: 'Deleted' },
};
const SHOWN_FILES = 8;

/** Consecutive uploads as one item. */
export function UploadItem({ upload, sessionId }: { upload: Upload; sessionId: string }) {
  const { fileCount, bytes, files } = upload;
  const shown = files.slice(0, SHOWN_FILES);
  return (
    <div className="flex flex-col gap-1.5">
      <p className="flex items-center gap-1.5 text-[13px] text-muted">
        <FileUp className="size-3.5 shrink-0" aria-hidden />
        Uploaded {countText(fileCount, 'file')}, {formatBytes(bytes)}
      </p>
      <ul className="flex flex-wrap gap-1.5">
        {shown.map(({ path }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a path can occur twice, and an entry has no state
          <li key={index} className={FILE}>
            <FileLink sessionId={sessionId} path={path} />
          </li>
        ))}
        {fileCount > shown.length && <MoreFiles count={fileCount - shown.length} sessionId={sessionId} />}
      </ul>
    </div>
  );
}

/** Consecutive changes of files by tools. */
export function FileChangeList({ files: { files }, sessionId }: { files: FileChanges; sessionId: string }) {
  return (
    <ul className="flex flex-wrap gap-1.5">
      {files.slice(0, SHOWN_FILES).map(({ seq, path, change }) => {
        const { icon: Icon, word } = CHANGES[change];
        return (
          <li key={seq} className={FILE}>
            <Icon className="size-3.5 shrink-0 text-muted" aria-hidden />
            <span className="sr-only">{word}</span>
            {change === 'deleted' ? (
              <span className="truncate text-muted line-through" dir="auto">
                {path}
              </span>
            ) : (
              <FileLink sessionId={sessionId} path={path} />
            )}
          </li>
        );
      })}
      {files.length > SHOWN_FILES && <MoreFiles count={files.length - SHOWN_FILES} sessionId={sessionId} />}
    </ul>
  );
}

const FILE = 'flex max-w-full items-center gap-1.5 rounded-lg border border-line px-2 py-1 text-[13px]';

/** Link to a file of the session's workspace. */
export function FileLink({ sessionId, path }: { sessionId: string; path: string }) {
  return (
    <TextLink
      to="/sessions/$sessionId"
      params={{ sessionId }}
      search={{ view: 'files', path }}
      dir="auto"
      className="truncate font-normal"
    >
      {path}
    </TextLink>
  );
}

function MoreFiles({ count, sessionId }: { count: number; sessionId: string }) {
  return (
    <li className="px-2 py-1 text-[13px] text-muted">
      <TextLink
        to="/sessions/$sessionId"
        params={{ sessionId }}
        search={{ view: 'files' }}
        className="font-normal"
      >
        and {count.toLocaleString('en')} more
      </TextLink>
    </li>
  );
}
