import { useNavigate } from '@tanstack/react-router';
import { Ban, Copy, Ellipsis, Power, Replace, Terminal, Trash2 } from 'lucide-react';
import type { Deployment } from '../../gen/index.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { IconButton } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { copyText } from '../../ui/toast.tsx';
import type { TriggerActions } from './actions.tsx';
import { requests } from './requests.ts';
import { agentNameOf } from './status.tsx';

export interface RowMenuProps {
  trigger: Deployment;
  actions: Pick<TriggerActions, 'enable' | 'confirm'>;
}

/** Menu with the actions of a trigger in a list. */
export function RowMenu({ trigger, actions: { enable, confirm } }: RowMenuProps) {
  const navigate = useNavigate();
  const curlOf = useCurl();
  const { agent_id: agent, deployment_id: replaces, status, trigger_url: url } = trigger;
  const label = `Actions for ${agentNameOf(trigger)}, ${replaces}`;
  return (
    <Menu trigger={<IconButton label={label} icon={<Ellipsis />} />}>
      {status === 'enabled' ? (
        <MenuItem icon={<Ban />} onSelect={() => confirm({ kind: 'disable', trigger })}>
          Disable
        </MenuItem>
      ) : (
        <MenuItem icon={<Power />} onSelect={() => enable(trigger)}>
          Enable
        </MenuItem>
      )}
      <MenuItem
        icon={<Replace />}
        onSelect={() => void navigate({ to: '/triggers/new', search: { agent, replaces } })}
      >
        Replace
      </MenuItem>
      <MenuItem icon={<Copy />} onSelect={() => void copyText(url)}>
        Copy URL
      </MenuItem>
      {status === 'disabled' && (
        <MenuItem icon={<Terminal />} onSelect={() => void copyText(curlOf(requests.enable(trigger)))}>
          Copy “Enable” as curl
        </MenuItem>
      )}
      <MenuItem icon={<Trash2 />} danger onSelect={() => confirm({ kind: 'delete', trigger })}>
        Delete
      </MenuItem>
    </Menu>
  );
}
