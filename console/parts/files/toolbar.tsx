import { FileUp, FolderPlus, FolderUp, Upload } from 'lucide-react';
import { type RefObject, useEffect, useRef } from 'react';
import { Button } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { chosenFiles, type SelectedFiles } from './uploads/selected-files.ts';

export interface ToolbarProps {
  onChosen: (chosen: SelectedFiles) => void;
  onNewFolder: () => void;
}

/** Buttons that upload to the current folder or create a folder in it. */
export function Toolbar({ onChosen, onNewFolder }: ToolbarProps) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  // React does not support this attribute.
  useEffect(() => folder.current?.setAttribute('webkitdirectory', ''), []);
  const trigger = (
    <Button small look="primary">
      <Upload aria-hidden />
      Upload
    </Button>
  );
  return (
    <div className="flex flex-wrap gap-2">
      <Menu trigger={trigger}>
        <MenuItem icon={<FileUp aria-hidden />} onSelect={() => files.current?.click()}>
          Files
        </MenuItem>
        <MenuItem icon={<FolderUp aria-hidden />} onSelect={() => folder.current?.click()}>
          Folder
        </MenuItem>
      </Menu>
      <Button small onClick={onNewFolder}>
        <FolderPlus aria-hidden />
        New folder
      </Button>
      <FileInput input={files} label="Files to upload" onChosen={onChosen} />
      <FileInput input={folder} label="Folder to upload" onChosen={onChosen} />
    </div>
  );
}

interface FileInputProps {
  input: RefObject<HTMLInputElement | null>;
  label: string;
  onChosen: (chosen: SelectedFiles) => void;
}

function FileInput({ input, label, onChosen }: FileInputProps) {
  return (
    <input
      ref={input}
      type="file"
      multiple
      hidden
      aria-label={label}
      onChange={({ currentTarget }) => {
        if (currentTarget.files?.length) onChosen(chosenFiles(currentTarget.files));
        // Without a reset, selecting the same file again fires no event.
        currentTarget.value = '';
      }}
    />
  );
}
