import { Terminal } from 'lucide-react';
import type { Place } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { Button } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { toast } from '../../ui/toast.tsx';
import { useViewer } from '../people/viewer.ts';
import { curlsOf } from './curls.ts';

/** Copies one of the things that can be done with an entry, as a line for a shell. */
export function CurlMenu({ place, entry }: { place: Place; entry: Pick<FileEntry, 'path' | 'kind'> }) {
  const { isTeam } = useViewer();
  const trigger = (
    <Button small>
      <Terminal aria-hidden />
      Copy as curl
    </Button>
  );
  return (
    <Menu trigger={trigger}>
      {curlsOf(place, entry, isTeam).map(({ text, curl }) => (
        <MenuItem key={text} onSelect={() => void copy(curl)}>
          {text}
        </MenuItem>
      ))}
    </Menu>
  );
}

async function copy(curl: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(curl);
    toast.done('Copied');
  } catch {
    toast.failed('The browser does not allow copying');
  }
}
