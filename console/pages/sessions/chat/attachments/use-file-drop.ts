import { type DragEvent, useRef, useState } from 'react';

/** Handlers of an element on which files can be dropped, and whether files are above it. */
export function useFileDrop(onFiles: (files: readonly File[]) => void) {
  const [isTarget, setTarget] = useState(false);
  // Counts entered minus left elements, because enter and leave events of children bubble in any order.
  const depth = useRef(0);
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes('Files');
  const end = () => {
    depth.current = 0;
    setTarget(false);
  };
  return {
    isTarget,
    handlers: {
      onDragEnter: (event: DragEvent) => {
        if (hasFiles(event)) depth.current++;
      },
      onDragOver: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = 'copy';
        setTarget(true);
      },
      onDragLeave: () => {
        depth.current--;
        if (depth.current <= 0) end();
      },
      onDrop: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        onFiles(Array.from(event.dataTransfer.files));
        end();
      },
    },
  };
}
