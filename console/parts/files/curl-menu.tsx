import { Terminal } from 'lucide-react';
import type { Place } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { Button } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { copyText } from '../../ui/toast.tsx';
import { useCurl } from '../curl/use-curl.ts';
import { curlsOf } from './curls.ts';

/** Copies one of the things that can be done with an entry, as a line for a shell. */
export function CurlMenu({ place, entry }: { place: Place; entry: Pick<FileEntry, 'path' | 'kind'> }) {
  const curlOf = useCurl();
  const trigger = (
    <Button small>
      <Terminal aria-hidden />
      Copy as curl
    </Button>
  );
  return (
    <Menu trigger={trigger}>
      {curlsOf(place, entry, curlOf).map(({ text, curl }) => (
        <MenuItem key={text} onSelect={() => void copyText(curl)}>
          {text}
        </MenuItem>
      ))}
    </Menu>
  );
}
