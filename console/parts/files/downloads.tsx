import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { files, MOST_AT_ONCE, type Place } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { shownBytes } from '../../ui/bytes.ts';
import { Code } from '../../ui/code.tsx';
import { useCurl } from '../curl/use-curl.ts';
import { partsCurl } from './curls.ts';
import { nameOf } from './paths.ts';

/** A file as a download. One that is too long for an answer has none: see PartsHint. */
export function DownloadFile({ place, entry }: { place: Place; entry: FileEntry }) {
  if (entry.size > MOST_AT_ONCE) return null;
  return (
    <a
      href={files.contentUrl(place, entry.path)}
      download={entry.name}
      className={buttonClass('secondary', true)}
    >
      <Download aria-hidden />
      Download
    </a>
  );
}

/** How a file is had that is too long for one answer. */
export function PartsHint({ place, entry }: { place: Place; entry: FileEntry }) {
  const curlOf = useCurl();
  if (entry.size <= MOST_AT_ONCE) return null;
  return (
    <div className="flex flex-col gap-2 border-t border-line p-4 text-[13px]">
      <p className="text-muted">
        This file has more than {shownBytes(MOST_AT_ONCE)}, the most that one answer holds. Get it in parts:
      </p>
      <Code text={partsCurl(place, entry, curlOf)} label="Download in parts with curl" />
    </div>
  );
}

/** A folder as a tar archive. Asks first whether there will be one: a refused download says nothing. */
export function useArchive(place: Place, path: string) {
  const checking = useMutation({
    mutationFn: () => files.checkArchive(place, path),
    onSuccess: () => {
      const link = document.createElement('a');
      link.href = files.archiveUrl(place, path);
      link.download = `${nameOf(path) || place.id}.tar`;
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
