import { Terminal } from 'lucide-react';
import type { WorkspaceRef } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { Button } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { copyText } from '../../ui/toast.tsx';
import { useCurl } from '../curl/use-curl.ts';
import { curlsOf } from './file-curls.ts';

/** Menu that copies the API requests of an entry as curl commands. */
export function CurlMenu({
  workspace,
  entry,
}: {
  workspace: WorkspaceRef;
  entry: Pick<FileEntry, 'path' | 'kind'>;
}) {
  const curlOf = useCurl();
  const trigger = (
    <Button small>
      <Terminal aria-hidden />
      Copy as curl
    </Button>
  );
  return (
    <Menu trigger={trigger}>
      {curlsOf(workspace, entry, curlOf).map(({ text, curl }) => (
        <MenuItem key={text} onSelect={() => void copyText(curl)}>
          {text}
        </MenuItem>
      ))}
    </Menu>
  );
}
