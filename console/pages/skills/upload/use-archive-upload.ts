import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../../../api/client.ts';
import { type PublishedSkill, skills } from '../../../api/skills.ts';
import { useIdempotencyKeys } from '../../../parts/actions/idempotency-key.ts';
import { isReadable } from '../../../parts/files/uploads/readable.ts';
import { useLeaveWarning } from '../../../parts/navigation/leave-warning.ts';
import { checkArchive } from './archive.ts';

export type ArchiveUploadState =
  | { state: 'idle' }
  /** `fraction` is from 0 to 1. At 1 the service checks the archive. */
  | { state: 'sending'; file: File; fraction: number }
  /** `problem` is an ApiError or a sentence. `file` can be sent again. */
  | { state: 'failed'; file?: File; problem: ApiError | string };

const CHANGED = 'The file has changed since it was selected. Select it again.';

/** Sends an archive as a new skill, or as a version of `skillId`. Leaving the page cancels it. */
export function useArchiveUpload(skillId: string | undefined, onPublished: (done: PublishedSkill) => void) {
  const [upload, setUpload] = useState<ArchiveUploadState>({ state: 'idle' });
  const running = useRef<AbortController>(undefined);
  const { keyFor, renew } = useIdempotencyKeys();
  useEffect(() => () => running.current?.abort(), []);
  useLeaveWarning(upload.state === 'sending');

  function refuse(problem: string): void {
    setUpload({ state: 'failed', problem });
  }

  async function start(file: File): Promise<void> {
    const sending = new AbortController();
    const { signal } = sending;
    running.current?.abort();
    running.current = sending;
    const archive = await checkArchive(file);
    if (signal.aborted) return;
    if (typeof archive === 'string') return refuse(archive);
    setUpload({ state: 'sending', file, fraction: 0 });
    try {
      const key = keyFor([skillId, file.name, file.size, file.lastModified]);
      const onProgress = (fraction: number) => {
        if (!signal.aborted) setUpload({ state: 'sending', file, fraction });
      };
      const published = await skills.publish(skillId, archive, key, onProgress, signal);
      renew();
      if (signal.aborted) return;
      setUpload({ state: 'idle' });
      onPublished(published);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      // Browsers report a file that was changed after its selection as a network error.
      if (error.code === 'UNREACHABLE' && !(await isReadable(file))) return refuse(CHANGED);
      setUpload({ state: 'failed', file, problem: error });
    }
  }

  function cancel(): void {
    running.current?.abort();
    setUpload({ state: 'idle' });
  }

  return { upload, start: (file: File) => void start(file), refuse, cancel };
}
