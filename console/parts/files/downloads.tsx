import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { files, MAX_RANGE_BYTES, type WorkspaceRef } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { formatBytes } from '../../ui/bytes.ts';
import { Code } from '../../ui/code.tsx';
import { useCurl } from '../curl/use-curl.ts';
import { partsCurl } from './file-curls.ts';
import { nameOf } from './paths.ts';

/** Download link of a file. Renders nothing for a file that exceeds one response: see PartsHint. */
export function DownloadFile({ workspace, entry }: { workspace: WorkspaceRef; entry: FileEntry }) {
  if (entry.size > MAX_RANGE_BYTES) return null;
  return (
    <a
      href={files.contentUrl(workspace, entry.path)}
      download={entry.name}
      className={buttonClass('secondary', true)}
    >
      <Download aria-hidden />
      Download
    </a>
  );
}

/** Explains how to download a file that exceeds one response. */
export function PartsHint({ workspace, entry }: { workspace: WorkspaceRef; entry: FileEntry }) {
  const curlOf = useCurl();
  if (entry.size <= MAX_RANGE_BYTES) return null;
  return (
    <div className="flex flex-col gap-2 border-t border-line p-4 text-[13px]">
      <p className="text-muted">
        This file exceeds {formatBytes(MAX_RANGE_BYTES)}, the maximum size of one response. Download it in
        parts:
      </p>
      <Code text={partsCurl(workspace, entry, curlOf)} label="Download in parts with curl" />
    </div>
  );
}

/** Downloads a folder as a tar archive. It checks the request first, because a failed download shows no error. */
export function useArchive(workspace: WorkspaceRef, path: string) {
  const checking = useMutation({
    mutationFn: () => files.checkArchive(workspace, path),
    onSuccess: () => {
      const link = document.createElement('a');
      link.href = files.archiveUrl(workspace, path);
      link.download = `${nameOf(path) || workspace.id}.tar`;
      link.click();
    },
  });
  const button = (
    <Button small busy={checking.isPending} onClick={() => checking.mutate()}>
      <Download aria-hidden />
      Download as tar
    </Button>
  );
  return { button, error: checking.error };
}
