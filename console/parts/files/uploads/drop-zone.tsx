import { type ReactNode, useRef, useState } from 'react';
import { classes } from '../../../ui/classes.ts';
import { FileName } from '../file-name.tsx';

export interface DropZoneProps {
  isEnabled: boolean;
  /** Target of files that are not dropped on a folder of the tree. */
  folder: string;
  onFolder: (folder: string | undefined) => void;
  onDrop: (data: DataTransfer, folder: string) => void;
  children: ReactNode;
}

/** Area that accepts dropped files. */
export function DropZone({ isEnabled, folder, onFolder, onDrop, children }: DropZoneProps) {
  const [target, setTarget] = useState<string>();
  // Counts entered minus left elements, because enter and leave events of children bubble in any order.
  const depth = useRef(0);

  function setDropTarget(next: string | undefined): void {
    if (next === target) return;
    setTarget(next);
    onFolder(next);
  }
  function end(): void {
    depth.current = 0;
    setDropTarget(undefined);
  }
  if (!isEnabled) return <div className="flex flex-col gap-3">{children}</div>;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the upload buttons are the keyboard alternative
    <div
      className={classes(
        'flex flex-col gap-3 rounded-xl',
        target !== undefined && 'outline-2 outline-offset-4 outline-accent outline-dashed',
      )}
      onDragEnter={(event) => {
        if (event.dataTransfer.types.includes('Files')) depth.current++;
      }}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = 'copy';
        setDropTarget(folderUnder(event.target) ?? folder);
      }}
      onDragLeave={() => {
        depth.current--;
        if (depth.current <= 0) end();
      }}
      onDrop={(event) => {
        event.preventDefault();
        onDrop(event.dataTransfer, folderUnder(event.target) ?? folder);
        end();
      }}
    >
      {target !== undefined && (
        <p className="pointer-events-none fixed inset-x-0 bottom-6 z-30 mx-auto w-fit max-w-[90vw] truncate rounded-full bg-accent-fill px-4 py-2 text-white shadow-float">
          Drop to upload to {target ? <FileName text={target} /> : 'the workspace'}
        </p>
      )}
      {children}
    </div>
  );
}

function folderUnder(target: EventTarget): string | undefined {
  return target instanceof Element ? target.closest<HTMLElement>('[data-folder]')?.dataset.folder : undefined;
}
