import { useEffect, useRef, useState } from 'react';
import { MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS, mediaTypeOf } from '../../../../api/attachments.ts';
import type { FileEntry } from '../../../../gen/index.ts';
import { nameOf } from '../../../../parts/files/paths.ts';
import { loadChunk } from '../../../../parts/navigation/load-chunk.ts';
import { toast } from '../../../../ui/toast.tsx';
import type { Attachment } from './attachment.ts';

export interface Attachments {
  items: readonly Attachment[];
  /** Uploads files of the user. Refuses files that are too large or too many, with a message to the user. */
  addFiles: (files: readonly File[]) => void;
  /** Adds a file of the workspace. */
  addEntry: (entry: FileEntry) => void;
  remove: (id: string) => void;
  /** Uploads a file again whose upload has failed. */
  retry: (id: string) => void;
  /** Removes attachments that were sent. */
  removeSent: (sent: readonly Attachment[]) => void;
}

/** The attachments of an unsent message. Uploads begin at once and end when the component is removed. */
export function useAttachments(): Attachments {
  const [items, setItems] = useState<readonly Attachment[]>([]);
  const uploads = useRef(new Map<string, AbortController>());
  const counter = useRef(0);
  useEffect(() => {
    const running = uploads.current;
    return () => {
      for (const upload of running.values()) upload.abort();
    };
  }, []);

  const update = (id: string, change: Partial<Attachment>) =>
    setItems((before) => before.map((one) => (one.id === id ? { ...one, ...change } : one)));

  async function upload(id: string, file: File): Promise<void> {
    const controller = new AbortController();
    uploads.current.set(id, controller);
    try {
      const { uploadAttachment } = await loadChunk(() => import('../../../../api/upload-attachment.ts'));
      const onProgress = (progress: number) => update(id, { progress });
      update(id, { uploadId: await uploadAttachment(file, onProgress, controller.signal), progress: 1 });
    } catch (error) {
      if (!controller.signal.aborted) update(id, { error });
    } finally {
      uploads.current.delete(id);
    }
  }

  function add(added: readonly Attachment[]): readonly Attachment[] {
    const accepted = added.slice(0, Math.max(0, MAX_ATTACHMENTS - items.length));
    if (accepted.length < added.length)
      toast.failed(`A message has at most ${MAX_ATTACHMENTS} images and files.`);
    setItems((before) => [...before, ...accepted]);
    return accepted;
  }

  const newId = () => `attachment-${++counter.current}`;

  return {
    items,
    addFiles(files) {
      const fitting = files.filter(({ size }) => size > 0 && size <= MAX_ATTACHMENT_BYTES);
      for (const file of files)
        if (!fitting.includes(file))
          toast.failed(file.size === 0 ? `${file.name} is empty.` : `${file.name} is larger than 64 MiB.`);
      const added = add(
        fitting.map((file) => ({
          id: newId(),
          name: file.name,
          mediaType: mediaTypeOf(file),
          size: file.size,
          source: { kind: 'file', file },
          uploadId: undefined,
          progress: 0,
          error: undefined,
        })),
      );
      for (const { id, source } of added) if (source.kind === 'file') void upload(id, source.file);
    },
    addEntry({ path, size, media_type: mediaType }) {
      add([
        {
          id: newId(),
          name: nameOf(path),
          mediaType: mediaType ?? undefined,
          size,
          source: { kind: 'path', path },
          uploadId: undefined,
          progress: 1,
          error: undefined,
        },
      ]);
    },
    remove(id) {
      uploads.current.get(id)?.abort();
      setItems((before) => before.filter((one) => one.id !== id));
    },
    retry(id) {
      const item = items.find((one) => one.id === id);
      if (item?.source.kind !== 'file') return;
      update(id, { error: undefined, progress: 0 });
      void upload(id, item.source.file);
    },
    removeSent(sent) {
      const ids = new Set(sent.map(({ id }) => id));
      setItems((before) => before.filter(({ id }) => !ids.has(id)));
    },
  };
}
