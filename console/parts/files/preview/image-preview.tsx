import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { files, type WorkspaceRef } from '../../../api/files.ts';
import type { FileEntry } from '../../../gen/index.ts';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { ErrorState } from '../../errors/error-state.tsx';
import { useQueryFailure } from '../../errors/use-query-failure.ts';
import { NoPreview } from './no-preview.tsx';

/** Preview of an image in an `img` element, which runs no scripts. */
export function ImagePreview({ workspace, entry }: { workspace: WorkspaceRef; entry: FileEntry }) {
  const { path, size, media_type: type, name } = entry;
  const image = useQuery({
    ...files.content(workspace, entry, 'image', (signal) =>
      files.readRange(workspace, path, { first: 0, length: size }, signal),
    ),
    gcTime: 0,
  });
  const failure = useQueryFailure(image);
  const [url, setUrl] = useState<string>();
  const [shape, setShape] = useState<string>();
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    if (!image.data) return;
    const objectUrl = URL.createObjectURL(new Blob([image.data], { type: type ?? '' }));
    setUrl(objectUrl);
    setBroken(false);
    return () => URL.revokeObjectURL(objectUrl);
  }, [image.data, type]);

  if (failure) return <ErrorState {...failure} />;
  if (isBroken) return <NoPreview>This image cannot be displayed.</NoPreview>;
  if (!url) return <Skeleton label="Loading preview" />;
  return (
    <figure className="flex flex-col items-center gap-2 p-4">
      <img
        src={url}
        alt={name}
        className="max-h-[45dvh] max-w-full lg:max-h-[60dvh] rounded border border-line bg-sunken object-contain"
        onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
          setShape(naturalWidth ? `${naturalWidth} × ${naturalHeight} pixels` : undefined)
        }
        onError={() => setBroken(true)}
      />
      {shape && <figcaption className="text-[13px] text-muted">{shape}</figcaption>}
    </figure>
  );
}
