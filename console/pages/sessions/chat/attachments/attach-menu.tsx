import { Paperclip } from 'lucide-react';
import { lazy, Suspense, useRef, useState } from 'react';
import { loadChunk } from '../../../../parts/navigation/load-chunk.ts';
import { IconButton } from '../../../../ui/button.tsx';
import { Menu, MenuItem } from '../../../../ui/menu.tsx';
import type { Attachments } from './use-attachments.ts';

const WorkspaceFileDialog = lazy(async () => ({
  default: (await loadChunk(() => import('./workspace-file-dialog.tsx'))).WorkspaceFileDialog,
}));

export interface AttachMenuProps {
  sessionId: string;
  attachments: Attachments;
}

/** The button that adds images and files to a message. */
export function AttachMenu({ sessionId, attachments }: AttachMenuProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isChoosing, setChoosing] = useState(false);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={({ target }) => {
          attachments.addFiles(Array.from(target.files ?? []));
          // Selecting the same file again must cause another event.
          target.value = '';
        }}
      />
      <Menu trigger={<IconButton label="Attach images and files" icon={<Paperclip />} />}>
        <MenuItem onSelect={() => input.current?.click()}>Upload from this device</MenuItem>
        <MenuItem onSelect={() => setChoosing(true)}>Choose from the workspace</MenuItem>
      </Menu>
      {isChoosing && (
        <Suspense>
          <WorkspaceFileDialog
            sessionId={sessionId}
            onClose={() => setChoosing(false)}
            onChosen={(entry) => {
              attachments.addEntry(entry);
              setChoosing(false);
            }}
          />
        </Suspense>
      )}
    </>
  );
}
