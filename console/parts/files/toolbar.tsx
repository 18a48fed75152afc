import { FileUp, FolderPlus, FolderUp, Upload } from 'lucide-react';
import { type RefObject, useEffect, useRef } from 'react';
import { Button } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { type Collected, chosenFiles } from './dropped.ts';

export interface ToolbarProps {
  onChosen: (chosen: Collected) => void;
  onNewFolder: () => void;
}

/** What can be put into the folder that is looked at. */
export function Toolbar({ onChosen, onNewFolder }: ToolbarProps) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  // React knows no such attribute.
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
          A folder
        </MenuItem>
      </Menu>
      <Button small onClick={onNewFolder}>
        <FolderPlus aria-hidden />
        New folder
      </Button>
      <Picker place={files} label="Files to upload" onChosen={onChosen} />
      <Picker place={folder} label="Folder to upload" onChosen={onChosen} />
    </div>
  );
}

interface PickerProps {
  place: RefObject<HTMLInputElement | null>;
  label: string;
  onChosen: (chosen: Collected) => void;
}

function Picker({ place, label, onChosen }: PickerProps) {
  return (
    <input
      ref={place}
      type="file"
      multiple
      hidden
      aria-label={label}
      onChange={({ currentTarget }) => {
        if (currentTarget.files?.length) onChosen(chosenFiles(currentTarget.files));
        // The same file may be chosen again.
        currentTarget.value = '';
      }}
    />
  );
}
