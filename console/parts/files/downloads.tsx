import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { archiveUrl, checkArchive, contentUrl, MOST_AT_ONCE, type Place } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { useViewer } from '../people/viewer.ts';
import { partsCurl } from './curls.ts';
import { nameOf } from './paths.ts';
import { sizeText } from './size.ts';

/** A file as a download. One that is too long for an answer has none: see PartsHint. */
export function DownloadFile({ place, entry }: { place: Place; entry: FileEntry }) {
  if (entry.size > MOST_AT_ONCE) return null;
  return (
    <a href={contentUrl(place, entry.path)} download={entry.name} className={buttonClass('secondary', true)}>
      <Download aria-hidden />
      Download
    </a>
  );
}

/** How a file is had that is too long for one answer. */
export function PartsHint({ place, entry }: { place: Place; entry: FileEntry }) {
  const { isTeam } = useViewer();
  if (entry.size <= MOST_AT_ONCE) return null;
  return (
    <div className="flex flex-col gap-2 border-t border-line p-4 text-[13px]">
      <p className="text-muted">
        This file has more than {sizeText(MOST_AT_ONCE)}, the most that one answer holds. Get it in parts:
      </p>
      <Code text={partsCurl(place, entry, isTeam)} label="Download in parts with curl" />
    </div>
  );
}

/** A folder as a tar archive. Asks first whether there will be one: a refused download says nothing. */
export function useArchive(place: Place, path: string) {
  const checking = useMutation({
    mutationFn: () => checkArchive(place, path),
    onSuccess: () => {
      const link = document.createElement('a');
      link.href = archiveUrl(place, path);
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
