import { Copy, Ellipsis, OctagonX, Terminal } from 'lucide-react';
import { isStoppable } from '../../api/session-state.ts';
import { STOP } from '../../api/sessions.ts';
import type { Session } from '../../gen/index.ts';
import { IconButton } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { copyText } from '../../ui/toast.tsx';
import { useCurl } from '../curl/use-curl.ts';
import { useStop } from './use-stop.ts';

/** Menu with the actions of a session in a list. */
export function SessionMenu({ session }: { session: Session }) {
  const { stop, isStopping } = useStop();
  const curlOf = useCurl();
  const { session_id: id, title } = session;
  const path = `/sessions/${id}/interrupt`;
  return (
    <Menu trigger={<IconButton label={`Actions for ${title || id}`} icon={<Ellipsis />} />}>
      <MenuItem icon={<OctagonX />} disabled={isStopping || !isStoppable(session)} onSelect={() => stop(id)}>
        Stop
      </MenuItem>
      <MenuItem icon={<Copy />} onSelect={() => void copyText(id)}>
        Copy ID
      </MenuItem>
      <MenuItem
        icon={<Terminal />}
        onSelect={() => void copyText(curlOf({ method: 'POST', path, body: STOP }))}
      >
        Copy as curl: stop
      </MenuItem>
    </Menu>
  );
}
