import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { files, type Place } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Failure } from '../faults/failure.tsx';
import { useFailure } from '../faults/use-failure.ts';
import { NoPreview } from './no-preview.tsx';

/** An image, as a picture and nothing else. */
export function ImagePreview({ place, entry }: { place: Place; entry: FileEntry }) {
  const { path, size, media_type: type, name } = entry;
  const image = useQuery({
    ...files.content(place, entry, 'image', (signal) =>
      files.read(place, path, { first: 0, length: size }, signal),
    ),
    gcTime: 0,
  });
  const failure = useFailure(image);
  const [url, setUrl] = useState<string>();
  const [shape, setShape] = useState<string>();
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    if (!image.data) return;
    const made = URL.createObjectURL(new Blob([image.data], { type: type ?? '' }));
    setUrl(made);
    setBroken(false);
    return () => URL.revokeObjectURL(made);
  }, [image.data, type]);

  if (failure) return <Failure {...failure} />;
  if (isBroken) return <NoPreview>This image cannot be shown.</NoPreview>;
  if (!url) return <Skeleton label="Loading the preview" />;
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
